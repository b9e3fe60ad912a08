//~ about: a handler in one thread, an access in another
//~ truth: race
#include <pthread.h>
#include <signal.h>
static int n;
static void handler(int s) { n++; }
static void *work(void *arg)
{
    n = 5;
    return arg;
}
int main(void)
{
    pthread_t a;
    sigset_t set;
    signal(SIGUSR1, handler);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_create(&a, 0, work, 0);
    raise(SIGUSR1);
    pthread_join(a, 0);
    return 0;
}
