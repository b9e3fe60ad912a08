// What the functions of reader-writer locks return, as far as it is defined, and whom a lock prefers.

#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static pthread_rwlock_t lock;
static const struct timespec past = {0, 0}, wrong = {0, 1000000000}, negative = {0, -1};

static void make(int kind) {
    pthread_rwlockattr_t attributes;
    assert(pthread_rwlockattr_init(&attributes) == 0);
    assert(pthread_rwlockattr_setkind_np(&attributes, kind) == 0);
    assert(pthread_rwlock_init(&lock, &attributes) == 0);
    assert(pthread_rwlockattr_destroy(&attributes) == 0);
}

static void *during_write(void *unused) {
    assert(pthread_rwlock_tryrdlock(&lock) == EBUSY);
    assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
    assert(pthread_rwlock_timedrdlock(&lock, &past) == ETIMEDOUT);
    assert(pthread_rwlock_timedwrlock(&lock, &past) == ETIMEDOUT);
    assert(pthread_rwlock_timedrdlock(&lock, &wrong) == EINVAL);
    assert(pthread_rwlock_timedwrlock(&lock, &negative) == EINVAL);
    assert(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    assert(pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
    return unused;
}

static void *during_read(void *unused) {
    assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
    assert(pthread_rwlock_timedwrlock(&lock, &past) == ETIMEDOUT);
    assert(pthread_rwlock_tryrdlock(&lock) == 0);
    assert(pthread_rwlock_timedrdlock(&lock, &past) == 0);
    assert(pthread_rwlock_unlock(&lock) == 0);
    assert(pthread_rwlock_unlock(&lock) == 0);
    return unused;
}

static void meanwhile(void *(*what)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, what, NULL);
    pthread_join(thread, NULL);
}

static void *write_once(void *unused) {
    assert(pthread_rwlock_wrlock(&lock) == 0);
    assert(pthread_rwlock_unlock(&lock) == 0);
    return unused;
}

// While a writer waits, a lock that prefers writers lets no reader in; others do.
static void check_preference(int kind, int error) {
    make(kind);
    assert(pthread_rwlock_rdlock(&lock) == 0);
    pthread_t writer;
    pthread_create(&writer, NULL, write_once, NULL);
    struct timespec moment = {0, 1000000};
    for (int tries = 0; tries < 200; tries++) {
        int result = pthread_rwlock_tryrdlock(&lock);
        assert(result == 0 || result == error);
        if (result == 0)
            assert(pthread_rwlock_unlock(&lock) == 0);
        if (result == EBUSY || (error == 0 && tries == 2))
            break;
        nanosleep(&moment, NULL);
    }
    assert(pthread_rwlock_unlock(&lock) == 0);
    pthread_join(writer, NULL);
    assert(pthread_rwlock_destroy(&lock) == 0);
}

int main(void) {
    make(PTHREAD_RWLOCK_DEFAULT_NP);
    assert(pthread_rwlock_timedrdlock(&lock, &wrong) == EINVAL);
    assert(pthread_rwlock_wrlock(&lock) == 0);
    assert(pthread_rwlock_wrlock(&lock) == EDEADLK);
    assert(pthread_rwlock_rdlock(&lock) == EDEADLK);
    assert(pthread_rwlock_tryrdlock(&lock) == EBUSY);
    assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
    meanwhile(during_write);
    assert(pthread_rwlock_unlock(&lock) == 0);
    assert(pthread_rwlock_rdlock(&lock) == 0);
    assert(pthread_rwlock_rdlock(&lock) == 0);
    assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
    meanwhile(during_read);
    assert(pthread_rwlock_unlock(&lock) == 0);
    assert(pthread_rwlock_unlock(&lock) == 0);
    assert(pthread_rwlock_destroy(&lock) == 0);
    check_preference(PTHREAD_RWLOCK_PREFER_READER_NP, 0);
    check_preference(PTHREAD_RWLOCK_PREFER_WRITER_NP, 0);
    check_preference(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, EBUSY);
    return 0;
}
