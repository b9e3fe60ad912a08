//~ about: a handler takes the lock that the thread which it interrupts may hold
//~ revisions: bug fixed
//~[bug] truth: deadlock
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void handler(int s)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
}
static void *work(void *arg)
{
    sigset_t s;
    sigemptyset(&s);
    sigaddset(&s, SIGUSR1);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &s, 0);
#endif
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
#ifdef FIXED
    pthread_sigmask(SIG_UNBLOCK, &s, 0);
#endif
    return arg;
}
int main(void)
{
    pthread_t a;
    signal(SIGUSR1, handler);
    pthread_create(&a, 0, work, 0);
    pthread_kill(a, SIGUSR1);
    pthread_join(a, 0);
    return 0;
}
