// Named semaphores: who opens a name finds the semaphore of that name, and what the functions return.

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REFUSED(call, error) (errno = 0, (call) == SEM_FAILED && errno == (error))
#define FAILS(call, error) (errno = 0, (call) == -1 && errno == (error))

static char name[64], other[64];
static int message;

static void *send(void *unused) {
    sem_t *semaphore = sem_open(name, 0);
    assert(semaphore != SEM_FAILED);
    message = 42;
    assert(sem_post(semaphore) == 0);
    assert(sem_close(semaphore) == 0);
    return unused;
}

int main(void) {
    // Other programs have names too.
    snprintf(name, sizeof name, "/racehunter-%d", (int)getpid());
    snprintf(other, sizeof other, "/racehunter-%d-other", (int)getpid());
    assert(REFUSED(sem_open(name, 0), ENOENT));
    assert(REFUSED(sem_open("", O_CREAT, 0600, 0), EINVAL));
    assert(REFUSED(sem_open("/a/b", O_CREAT, 0600, 0), EINVAL));
    assert(REFUSED(sem_open(name, O_CREAT, 0600, (unsigned)SEM_VALUE_MAX + 1), EINVAL));
    char long_name[NAME_MAX + 1];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    assert(REFUSED(sem_open(long_name, O_CREAT, 0600, 0), ENAMETOOLONG));
    assert(FAILS(sem_unlink(long_name), ENAMETOOLONG));
    assert(FAILS(sem_unlink(name), ENOENT));

    sem_t *semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    assert(semaphore != SEM_FAILED);
    assert(REFUSED(sem_open(name, O_CREAT | O_EXCL, 0600, 0), EEXIST));
    assert(sem_open(name, O_CREAT, 0600, 7) == semaphore);
    assert(sem_close(semaphore) == 0);
    sem_t *apart = sem_open(other, O_CREAT, 0600, 3);
    assert(apart != SEM_FAILED && apart != semaphore);
    assert(sem_unlink(other) == 0 && FAILS(sem_unlink(other), ENOENT));
    int value = -1;
    assert(sem_getvalue(apart, &value) == 0 && value == 3);
    assert(sem_wait(apart) == 0 && sem_getvalue(apart, &value) == 0 && value == 2);
    assert(sem_close(apart) == 0);
    assert(REFUSED(sem_open(other, 0), ENOENT));

    pthread_t thread;
    assert(pthread_create(&thread, NULL, send, NULL) == 0);
    assert(sem_wait(semaphore) == 0);
    assert(message == 42);
    assert(FAILS(sem_trywait(semaphore), EAGAIN));
    assert(pthread_join(thread, NULL) == 0);
    assert(sem_unlink(name) == 0);
    assert(sem_close(semaphore) == 0);
    return 0;
}
