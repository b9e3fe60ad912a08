// Timers of every kind: set, asked, replaced, stopped; signals, threads and files.

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms, value;
static sem_t called;
int prepared;

static void on_alarm(int signal) {
    (void)signal;
    alarms = alarms + 1;
}

static void on_timer(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)context;
    assert(info->si_code == SI_TIMER);
    value = info->si_value.sival_int;
}

static void call(union sigval argument) {
    assert(argument.sival_int == prepared);
    sem_post(&called);
}

static void interval_timer(void) {
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval every = {{0, 2000}, {0, 1000}}, none = {{0, 0}, {0, 0}}, before;
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaction(SIGALRM, &action, NULL);
    sigprocmask(SIG_BLOCK, &set, &old);
    assert(alarm(1000) == 0);
    unsigned left = alarm(0);
    assert(left == 1000 || left == 999);
    assert(setitimer(ITIMER_REAL, &every, NULL) == 0);
    while (alarms < 3)
        sigsuspend(&old);
    assert(setitimer(ITIMER_REAL, &none, &before) == 0);
    assert(before.it_interval.tv_usec == 2000 && before.it_value.tv_sec == 0);
    assert(getitimer(ITIMER_REAL, &before) == 0);
    assert(before.it_value.tv_sec == 0 && before.it_value.tv_usec == 0);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void signal_timer(void) {
    struct sigaction action;
    struct sigevent event;
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000}}, left;
    timer_t timer;
    sigset_t set, old;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_timer;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGRTMIN, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN;
    event.sigev_value.sival_int = 7;
    assert(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
    assert(timer_settime(timer, 0, &soon, NULL) == 0);
    while (value == 0)
        sigsuspend(&old);
    assert(value == 7 && timer_getoverrun(timer) == 0);
    assert(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    assert(timer_delete(timer) == 0);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void calling_timer(void) {
    struct sigevent event;
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000}}, never;
    timer_t timer;
    memset(&event, 0, sizeof event);
    memset(&never, 0, sizeof never);
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = call;
    event.sigev_value.sival_int = 5;
    sem_init(&called, 0, 0);
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    prepared = 5;
    assert(timer_settime(timer, 0, &soon, NULL) == 0);
    sem_wait(&called);
    assert(timer_settime(timer, 0, &soon, NULL) == 0);
    sem_wait(&called);
    assert(timer_settime(timer, 0, &never, NULL) == 0);
    assert(timer_delete(timer) == 0);
}

static void file_timer(void) {
    struct itimerspec soon = {.it_value = {.tv_nsec = 100000}}, left;
    struct timespec now;
    uint64_t count = 0;
    int file = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    assert(file >= 0);
    assert(read(file, &count, sizeof count) == -1 && errno == EAGAIN);
    clock_gettime(CLOCK_MONOTONIC, &now);
    soon.it_value.tv_sec += now.tv_sec + 1000;
    assert(timerfd_settime(file, TFD_TIMER_ABSTIME, &soon, NULL) == 0);
    assert(timerfd_gettime(file, &left) == 0 && left.it_value.tv_sec >= 999);
    soon.it_value.tv_sec = 0;
    assert(timerfd_settime(file, 0, &soon, &left) == 0);
    while (read(file, &count, sizeof count) == -1)
        usleep(100);
    assert(count == 1);
    close(file);
}

int main(void) {
    interval_timer();
    signal_timer();
    calling_timer();
    file_timer();
    return 0;
}
