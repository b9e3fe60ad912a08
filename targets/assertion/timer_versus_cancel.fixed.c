// Fixed twin of timer_versus_cancel.c: looking and closing are one step.

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
    int open = OPEN;
    if (atomic_compare_exchange_strong(&state, &open, how))
        atomic_fetch_add(&closed, 1);
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
    assert(atomic_load(&closed) <= 1);
    return 0;
}
