//~ about: threads share the timers: what a call returns depends on what others did before
//~ revisions: alarm interval deleted apart
//~ truth: assertion crash
//~[apart] truth: clean
//~ want: found
//~[apart] want: proved
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static timer_t timer;
static void *work(void *arg)
{
#if defined APART
    // The other thread has the timers for itself.
#elif defined ALARM
    alarm(100);
#elif defined INTERVAL
    struct itimerval value = {.it_value = {100, 0}};
    setitimer(ITIMER_REAL, &value, NULL);
#else
    timer_delete(timer);
#endif
    return arg;
}
int main(void)
{
    pthread_t thread;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    pthread_create(&thread, NULL, work, NULL);
#if defined ALARM || defined APART
    assert(alarm(0) == 0);
#elif defined INTERVAL
    struct itimerval none = {0}, old;
    setitimer(ITIMER_REAL, &none, &old);
    assert(old.it_value.tv_sec == 0);
#elif defined DELETED
    assert(timer_delete(timer) == 0);
#endif
    pthread_join(thread, NULL);
    alarm(0);
    return 0;
}
