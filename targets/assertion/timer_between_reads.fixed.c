// As timer_between_reads.c, but the program reads it once.
#include <assert.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

volatile int ticks;

static void tick(int signal) {
    (void)signal;
    ticks++;
}

int main(void) {
    signal(SIGALRM, tick);
    struct itimerval soon = {{0, 0}, {0, 1000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    int first = ticks;
    int second = first;
    assert(first == second);
    return 0;
}
