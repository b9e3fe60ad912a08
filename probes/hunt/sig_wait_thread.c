//~ about: a thread that waits for signals, which all others block
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static int got;
static void *waiter(void *set)
{
    int s;
    sigwait(set, &s);
    got = s;
    return 0;
}
int main(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_t a;
    pthread_create(&a, 0, waiter, &set);
    kill(getpid(), SIGUSR1);
    pthread_join(a, 0);
    assert(got == SIGUSR1);
    return 0;
}
