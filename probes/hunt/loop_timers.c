//~ about: timers that exist before an in-process loop expire in each iteration, if the program has set them
//~ revisions: file_bug signal_bug periodic_bug periodic_stopped file_stopped reads
//~[file_bug] truth: assertion
//~[signal_bug] truth: assertion
//~[periodic_bug] truth: assertion
//~[periodic_stopped] truth: clean
//~[file_stopped] truth: clean
//~[reads] truth: clean
#include <assert.h>
#include <pthread.h>
#include <racehunter.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
static int file;
static timer_t timer;
static atomic_int late;
static volatile sig_atomic_t got;
static const struct itimerspec soon = {{0, 0}, {0, 1000}}, never;
static void expired(int unused)
{
    (void)unused;
    got = 1;
}
static void begin(void)
{
    timerfd_settime(file, 0, &never, 0);
    timer_settime(timer, 0, &never, 0);
#ifdef PERIODIC_STOPPED
    struct itimerval stop = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &stop, 0);
#endif
    late = 0;
    got = 0;
}
static void *work(void *unused)
{
    uint64_t times = 0;
#if defined READS
    assert(read(file, &times, sizeof times) == sizeof times && times == 1);
#else
    late = read(file, &times, sizeof times) == sizeof times;
#endif
    return unused;
}
static void test(void)
{
    pthread_t thread;
#if defined FILE_BUG || defined READS
    timerfd_settime(file, 0, &soon, 0);
#elif defined SIGNAL_BUG
    timer_settime(timer, 0, &soon, 0);
#endif
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
#ifndef READS
    assert(!late && !got);
#endif
}
int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    signal(SIGUSR1, expired);
    signal(SIGALRM, expired);
#ifdef READS
    file = timerfd_create(CLOCK_MONOTONIC, 0);
#else
    file = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
#endif
    timer_create(CLOCK_MONOTONIC, &event, &timer);
#if defined PERIODIC_BUG || defined PERIODIC_STOPPED
    struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, 0);
#endif
    return racehunter_loop(test, begin);
}
