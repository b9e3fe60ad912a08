//~ about: a timer's handler sees one of two fields changed; no thread but main
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[fixed] truth: clean
#include <assert.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
static volatile int from = 100, to;
static void handler(int s)
{
    assert(from + to == 100);
}
int main(void)
{
    timer_t t;
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec when = {{0, 0}, {0, 1000000}};
    sigset_t block;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    signal(SIGUSR1, handler);
    timer_create(CLOCK_MONOTONIC, &e, &t);
    timer_settime(t, 0, &when, 0);
#ifdef FIXED
    sigprocmask(SIG_BLOCK, &block, 0);
#endif
    from -= 10;
    to += 10;
#ifdef FIXED
    sigprocmask(SIG_UNBLOCK, &block, 0);
#endif
    timer_delete(t);
    return 0;
}
