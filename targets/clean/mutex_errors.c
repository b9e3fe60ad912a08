// What the functions of mutexes return, for every type of mutex, as far as it is defined.

#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t mutex;

static void make(int type, int robust, int shared) {
    pthread_mutexattr_t attributes;
    assert(pthread_mutexattr_init(&attributes) == 0);
    assert(pthread_mutexattr_settype(&attributes, type) == 0);
    assert(pthread_mutexattr_setrobust(&attributes, robust) == 0);
    assert(pthread_mutexattr_setpshared(&attributes, shared) == 0);
    assert(pthread_mutex_init(&mutex, &attributes) == 0);
    assert(pthread_mutexattr_destroy(&attributes) == 0);
}

static struct timespec after(long nanoseconds) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += nanoseconds;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

// Main holds the mutex.
static void *meddle(void *checked) {
    struct timespec soon = after(1000000), past = {-1, 0}, wrong = {0, 1000000000}, negative = {0, -1};
    assert(pthread_mutex_trylock(&mutex) == EBUSY);
    assert(pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT);
    assert(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
    assert(pthread_mutex_timedlock(&mutex, &wrong) == EINVAL);
    assert(pthread_mutex_timedlock(&mutex, &negative) == EINVAL);
    assert(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    assert(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
    if (checked != NULL)
        assert(pthread_mutex_unlock(&mutex) == EPERM);
    return NULL;
}

static void meddle_meanwhile(int checked) {
    pthread_t thread;
    assert(pthread_create(&thread, NULL, meddle, checked ? &mutex : NULL) == 0);
    assert(pthread_join(thread, NULL) == 0);
}

static void check_type(int type, int robust, int shared) {
    struct timespec past = {0, 0}, wrong = {0, 1000000000};
    int checked = robust == PTHREAD_MUTEX_ROBUST || type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK;
    make(type, robust, shared);
    if (checked)
        assert(pthread_mutex_unlock(&mutex) == EPERM);
    assert(pthread_mutex_consistent(&mutex) == EINVAL);
    // The time is not checked if the mutex is free.
    assert(pthread_mutex_timedlock(&mutex, &wrong) == 0);
    assert(pthread_mutex_unlock(&mutex) == 0);
    assert(pthread_mutex_timedlock(&mutex, &past) == 0);
    switch (type) {
    case PTHREAD_MUTEX_RECURSIVE:
        assert(pthread_mutex_lock(&mutex) == 0);
        assert(pthread_mutex_trylock(&mutex) == 0);
        assert(pthread_mutex_timedlock(&mutex, &past) == 0);
        for (int i = 0; i < 3; i++)
            assert(pthread_mutex_unlock(&mutex) == 0);
        break;
    case PTHREAD_MUTEX_ERRORCHECK:
        assert(pthread_mutex_lock(&mutex) == EDEADLK);
        assert(pthread_mutex_timedlock(&mutex, &past) == EDEADLK);
        assert(pthread_mutex_trylock(&mutex) == (robust == PTHREAD_MUTEX_ROBUST ? EDEADLK : EBUSY));
        break;
    default:
        assert(pthread_mutex_trylock(&mutex) == EBUSY);
        assert(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
        break;
    }
    meddle_meanwhile(checked);
    assert(pthread_mutex_unlock(&mutex) == 0);
    if (checked)
        assert(pthread_mutex_unlock(&mutex) == EPERM);
    assert(pthread_mutex_destroy(&mutex) == 0);
}

int main(void) {
    const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                         PTHREAD_MUTEX_ADAPTIVE_NP};
    for (int i = 0; i < 4; i++)
        check_type(types[i], PTHREAD_MUTEX_STALLED, i % 2);
    for (int i = 0; i < 3; i++)
        check_type(types[i], PTHREAD_MUTEX_ROBUST, i % 2);

    pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    assert(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
    assert(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
    assert(pthread_mutex_unlock(&recursive) == EPERM);
    pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    assert(pthread_mutex_lock(&checking) == 0 && pthread_mutex_lock(&checking) == EDEADLK);
    assert(pthread_mutex_unlock(&checking) == 0);

    pthread_spinlock_t spin;
    assert(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
    assert(pthread_spin_lock(&spin) == 0 && pthread_spin_trylock(&spin) == EBUSY);
    assert(pthread_spin_unlock(&spin) == 0 && pthread_spin_trylock(&spin) == 0);
    assert(pthread_spin_unlock(&spin) == 0 && pthread_spin_destroy(&spin) == 0);
    return 0;
}
