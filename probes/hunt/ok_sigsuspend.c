//~ about: a handler sets a flag, and the thread waits for it by sigsuspend without a gap
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>
static volatile sig_atomic_t came;
static void handler(int s) { came = 1; }
static pthread_t main_;
static void *send(void *arg)
{
    pthread_kill(main_, SIGUSR1);
    return arg;
}
int main(void)
{
    sigset_t block, old;
    pthread_t a;
    main_ = pthread_self();
    signal(SIGUSR1, handler);
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &block, &old);
    pthread_create(&a, 0, send, 0);
    sigdelset(&old, SIGUSR1);
    while (!came)
        sigsuspend(&old);
    pthread_join(a, 0);
    assert(came);
    return 0;
}
