// A timer's handler changes a variable between two reads of it. There is no second thread.
// preemptions: 1
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
    int second = ticks;
    assert(first == second); //~ assertion
    return 0;
}
