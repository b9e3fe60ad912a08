//~ about: the signal functions of System V and BSD set handlers and masks like the others
//~ truth: clean
//~ want: proved
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
extern int siggetmask(void);
static volatile sig_atomic_t last;
static void handle(int signal)
{
    last = signal;
}
static void *check(void *arg)
{
    assert(sigset(SIGUSR1, handle) == SIG_DFL);
    raise(SIGUSR1);
    assert(last == SIGUSR1);
    last = 0;
    assert(sighold(SIGUSR1) == 0);
    raise(SIGUSR1);
    assert(last == 0);
    assert(sigrelse(SIGUSR1) == 0);
    assert(last == SIGUSR1);
    assert(sigset(SIGUSR1, SIG_HOLD) == handle);
    assert(sigset(SIGUSR1, handle) == SIG_HOLD);
    assert(sigignore(SIGUSR2) == 0);
    raise(SIGUSR2);
    assert(sigblock(sigmask(SIGUSR1)) == 0);
    assert(siggetmask() == sigmask(SIGUSR1));
    last = 0;
    raise(SIGUSR1);
    assert(last == 0);
    assert(sigsetmask(0) == sigmask(SIGUSR1));
    assert(last == SIGUSR1);
    return arg;
}
static void *beside(void *arg)
{
    return arg;
}
int main(void)
{
    pthread_t first, second;
    sigset_t all;
    sigfillset(&all);
    pthread_create(&first, 0, check, 0);
    pthread_join(first, 0);
    pthread_create(&second, 0, beside, 0);
    pthread_join(second, 0);
    return 0;
}
