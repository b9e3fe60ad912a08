// What the functions of semaphores and barriers return, as far as it is defined.

#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <time.h>

#define FAILS(call, error) (errno = 0, (call) == -1 && errno == (error))

static sem_t semaphore;
static pthread_barrier_t barrier;

static int value(void) {
    int value = -1;
    assert(sem_getvalue(&semaphore, &value) == 0);
    return value;
}

static void *meet(void *serial) {
    int result = pthread_barrier_wait(&barrier);
    assert(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    *(int *)serial = result;
    return NULL;
}

int main(void) {
    const struct timespec past = {0, 0}, wrong = {0, 1000000000}, negative = {0, -1};
    assert(FAILS(sem_init(&semaphore, 0, (unsigned)SEM_VALUE_MAX + 1), EINVAL));
    assert(sem_init(&semaphore, 0, SEM_VALUE_MAX) == 0);
    assert(value() == SEM_VALUE_MAX);
    assert(FAILS(sem_post(&semaphore), EOVERFLOW));
    assert(sem_wait(&semaphore) == 0 && value() == SEM_VALUE_MAX - 1);
    assert(sem_post(&semaphore) == 0 && value() == SEM_VALUE_MAX);
    assert(sem_destroy(&semaphore) == 0);

    assert(sem_init(&semaphore, 1, 1) == 0);
    assert(sem_trywait(&semaphore) == 0);
    assert(FAILS(sem_trywait(&semaphore), EAGAIN));
    assert(FAILS(sem_timedwait(&semaphore, &past), ETIMEDOUT));
    assert(FAILS(sem_timedwait(&semaphore, &wrong), EINVAL));
    assert(FAILS(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past), ETIMEDOUT));
    assert(FAILS(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &past), EINVAL));
    assert(sem_post(&semaphore) == 0);
    // The time is checked even if no thread has to wait.
    assert(FAILS(sem_timedwait(&semaphore, &negative), EINVAL));
    assert(sem_timedwait(&semaphore, &past) == 0 && value() == 0);
    assert(sem_destroy(&semaphore) == 0);

    assert(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
    assert(pthread_barrier_init(&barrier, NULL, UINT_MAX) == EINVAL);
    assert(pthread_barrier_init(&barrier, NULL, 1) == 0);
    assert(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    assert(pthread_barrier_destroy(&barrier) == 0);
    assert(pthread_barrier_init(&barrier, NULL, 2) == 0);
    int results[2];
    pthread_t thread;
    pthread_create(&thread, NULL, meet, &results[0]);
    meet(&results[1]);
    // The first thread that returns may destroy it.
    assert(pthread_barrier_destroy(&barrier) == 0);
    pthread_join(thread, NULL);
    assert((results[0] == 0) != (results[1] == 0));
    return 0;
}
