//~ about: of signals that are unblocked together, Linux runs the handler of the highest first, unless another handler blocks it
//~ revisions: highest blocked lowest
//~[highest] truth: clean
//~[highest] want: proved
//~[blocked] truth: clean
//~[blocked] want: proved
//~[lowest] truth: assertion
//~[lowest] must-not: exit-0
//~[lowest] want: found
#include <assert.h>
#include <pthread.h>
#include <signal.h>
static volatile sig_atomic_t order[2], count;
static void handle(int signal)
{
    order[count++] = signal;
}
static void *run(void *arg)
{
    return arg;
}
int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = handle};
    sigset_t all, before;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    sigaction(SIGUSR2, &action, 0);
#ifdef BLOCKED
    sigaddset(&action.sa_mask, SIGUSR2);
#endif
    sigaction(SIGUSR1, &action, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    raise(SIGUSR1);
    raise(SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &before, 0);
#ifdef HIGHEST
    assert(order[0] == SIGUSR2 && order[1] == SIGUSR1);
#else
    assert(order[0] == SIGUSR1 && order[1] == SIGUSR2);
#endif
    return 0;
}
