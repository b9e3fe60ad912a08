//~ about: the handler changes a variable between the read and the write of an addition
//~ revisions: bug fixed
//~[bug] truth: assertion race
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile int n;
static volatile sig_atomic_t came;
static void handler(int s)
{
    n = n + 1;
    came = 1;
}
static void *nothing(void *arg)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, 0);
    return arg;
}
int main(void)
{
    pthread_t t;
    sigset_t block, old;
    sigemptyset(&block);
    sigaddset(&block, SIGALRM);
    sigprocmask(SIG_BLOCK, &block, &old);
    signal(SIGALRM, handler);
    pthread_create(&t, 0, nothing, 0);
    alarm(1);
#ifdef BUG
    sigprocmask(SIG_SETMASK, &old, 0);
    n = n + 1;
    sigprocmask(SIG_BLOCK, &block, 0);
#else
    n = n + 1;
#endif
    while (!came)
        sigsuspend(&old);
    assert(n == 2);
    pthread_join(t, 0);
    return 0;
}
