// A request ends by its time-out or by being cancelled. The timer's function looks whether the request is open and then
// closes it; deleting the timer does not wait for a function that has already begun.
//
// preemptions: 1
//
// The twin is right because looking and closing are one step.

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

enum { OPEN, EXPIRED, CANCELLED };
static atomic_int state;
static atomic_int closed;

static void close_request(int how) {
    if (atomic_load(&state) == OPEN) {
        atomic_store(&state, how);
        atomic_fetch_add(&closed, 1);
    }
}

static void expire(union sigval unused) {
    (void)unused;
    close_request(EXPIRED);
}

int main(void) {
    timer_t timer;
    struct sigevent event;
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = expire;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    close_request(CANCELLED);
    timer_delete(timer);
    assert(atomic_load(&closed) == 1); //~ assertion
    return 0;
}
