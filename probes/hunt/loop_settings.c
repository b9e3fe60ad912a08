//~ about: an in-process loop uses objects that were initialised before it: what their initialisation has set is valid in each iteration
//~ revisions: barrier again clock barrier_bug clock_bug
//~[barrier] truth: clean
//~[again] truth: clean
//~[clock] truth: clean
//~[barrier_bug] truth: assertion
//~[clock_bug] truth: assertion
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <racehunter.h>
#include <stdatomic.h>
#include <time.h>
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static atomic_int arrived;
static int ready;
static void begin(void)
{
    arrived = 0;
    ready = 0;
#ifdef AGAIN
    pthread_barrier_destroy(&barrier);
    pthread_barrier_init(&barrier, 0, 2);
#endif
}
#if defined CLOCK || defined CLOCK_BUG
static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}
static void test(void)
{
    struct timespec until;
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 5;
    pthread_mutex_lock(&lock);
    int waits = 0;
    while (!ready && pthread_cond_timedwait(&changed, &lock, &until) != ETIMEDOUT)
        waits++;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
#ifdef CLOCK
    // Unless the other thread was faster, the time is over.
    assert(ready || now.tv_sec >= until.tv_sec);
#else
    assert(ready);
#endif
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
}
#else
static void *work(void *unused)
{
    arrived++;
    pthread_barrier_wait(&barrier);
    return unused;
}
static void test(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
#ifndef BARRIER_BUG
    pthread_barrier_wait(&barrier);
#endif
    assert(arrived == 1);
#ifdef BARRIER_BUG
    pthread_barrier_wait(&barrier);
#endif
    pthread_join(thread, 0);
}
#endif
int main(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_barrier_init(&barrier, 0, 2);
    return racehunter_loop(test, begin);
}
