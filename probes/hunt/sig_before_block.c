//~ about: the thread blocks the signal itself, which may be too late
//~ truth: crash
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void *waiter(void *arg)
{
    sigset_t set;
    int s;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    sigwait(&set, &s);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, waiter, 0);
    pthread_kill(a, SIGUSR1);
    pthread_join(a, 0);
    return 0;
}
