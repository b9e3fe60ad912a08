// A thread ends while it holds a robust mutex: the next owner is notified, and declares the state consistent again, or not.

#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex;
static int value;

static void make(int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    assert(pthread_mutex_init(&mutex, &attributes) == 0);
    pthread_mutexattr_destroy(&attributes);
}

static void *die(void *unused) {
    assert(pthread_mutex_lock(&mutex) == 0);
    value++;
    return unused;
}

static void *wait_in_vain(void *unused) {
    int error = pthread_mutex_lock(&mutex);
    assert(error == 0 || error == ENOTRECOVERABLE);
    if (error == 0)
        pthread_mutex_unlock(&mutex);
    return unused;
}

static void let_die(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, die, NULL);
    pthread_join(thread, NULL);
}

static void check(int type) {
    struct timespec past = {0, 0};
    make(type);
    let_die();
    assert(pthread_mutex_lock(&mutex) == EOWNERDEAD);
    value++;
    assert(pthread_mutex_consistent(&mutex) == 0);
    assert(pthread_mutex_consistent(&mutex) == EINVAL);
    assert(pthread_mutex_unlock(&mutex) == 0);

    let_die();
    assert(pthread_mutex_trylock(&mutex) == EOWNERDEAD);
    assert(pthread_mutex_consistent(&mutex) == 0);
    assert(pthread_mutex_unlock(&mutex) == 0);

    let_die();
    assert(pthread_mutex_timedlock(&mutex, &past) == EOWNERDEAD);
    pthread_t waiting;
    pthread_create(&waiting, NULL, wait_in_vain, NULL);
    assert(pthread_mutex_unlock(&mutex) == 0);
    pthread_join(waiting, NULL);
    assert(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
    assert(pthread_mutex_timedlock(&mutex, &past) == ENOTRECOVERABLE);
    assert(pthread_mutex_consistent(&mutex) == EINVAL);
    assert(pthread_mutex_unlock(&mutex) == EPERM);
    assert(pthread_mutex_destroy(&mutex) == 0);
}

int main(void) {
    check(PTHREAD_MUTEX_NORMAL);
    check(PTHREAD_MUTEX_RECURSIVE);
    check(PTHREAD_MUTEX_ERRORCHECK);
    return value == 12 ? 0 : 1;
}
