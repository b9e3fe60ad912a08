//~ about: a timer runs its function in a thread
//~ truth: race
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
static int n;
static void tick(union sigval v) { n++; }
int main(void)
{
    timer_t t;
    struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
    struct itimerspec w = {{0, 0}, {0, 1000000}};
    timer_create(CLOCK_MONOTONIC, &e, &t);
    timer_settime(t, 0, &w, 0);
    n = 5;
    sleep(1);
    return 0;
}
