// Results of condition variables: invalid times, times that have passed, invalid clocks.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    done = 1;
    assert(pthread_cond_broadcast(&changed) == 0);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    struct timespec past = {1, 0}, none = {1, 1000000000}, negative = {1, -1};
    assert(pthread_cond_signal(&changed) == 0);
    pthread_mutex_lock(&lock);
    assert(pthread_cond_timedwait(&changed, &lock, &none) == EINVAL);
    assert(pthread_cond_timedwait(&changed, &lock, &negative) == EINVAL);
    assert(pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &none) == EINVAL);
    assert(pthread_cond_clockwait(&changed, &lock, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
    assert(pthread_cond_timedwait(&changed, &lock, &past) == ETIMEDOUT);
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    while (!done)
        assert(pthread_cond_wait(&changed, &lock) == 0);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    assert(pthread_cond_destroy(&changed) == 0);
    return 0;
}
