//~ about: a handler and the thread that it interrupts change the same variable, in two steps
//~ revisions: open blocked
//~[open] truth: assertion
//~[blocked] truth: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>
static volatile int n;
static void handler(int signal)
{
    (void)signal;
    n = n + 1;
}
static void *sends(void *to)
{
    pthread_kill(*(pthread_t *)to, SIGUSR1);
    return 0;
}
int main(void)
{
    pthread_t self = pthread_self(), t;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    signal(SIGUSR1, handler);
    pthread_create(&t, 0, sends, &self);
#ifdef BLOCKED
    pthread_sigmask(SIG_BLOCK, &set, 0);
#endif
    n = n + 1;
#ifdef BLOCKED
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
#endif
    pthread_join(t, 0);
    sigset_t pending;
    sigpending(&pending);
    assert(n == 2);
    return 0;
}
