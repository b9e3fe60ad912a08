// A thread ends while it holds a robust mutex. The next owner repairs what it protects, but does not say so, and then
// no thread can lock it any more.
//
// preemptions: 0
//
// The twin is right because the mutex is made consistent before it is unlocked.

#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock;
static int first_half;
static int second_half;

static void *update(void *dies) {
    int error = pthread_mutex_lock(&lock);
    assert(error == 0 || error == EOWNERDEAD); //~ assertion
    if (error == EOWNERDEAD) {
        second_half = first_half;
    }
    first_half++;
    if (dies != NULL)
        pthread_exit(NULL);
    second_half++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attributes);
    pthread_t dying, repairing, late;
    pthread_create(&dying, NULL, update, &lock);
    pthread_create(&repairing, NULL, update, NULL);
    pthread_create(&late, NULL, update, NULL);
    pthread_join(dying, NULL);
    pthread_join(repairing, NULL);
    pthread_join(late, NULL);
    return 0;
}
