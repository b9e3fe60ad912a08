//~ about: a thread that waits on a condition variable takes over a robust mutex whose owner has ended
//~ revisions: consistent ignored
//~[consistent] truth: clean
//~[consistent] want: proved
//~[ignored] truth: assertion
//~[ignored] preemptions: 1
//~[ignored] want: found
#include <assert.h>
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t mutex;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready;
static void *wait_for_it(void *arg)
{
    int error = pthread_mutex_lock(&mutex);
    while (!is_ready && error == 0)
        error = pthread_cond_wait(&ready, &mutex);
#ifdef CONSISTENT
    if (error == EOWNERDEAD)
        assert(pthread_mutex_consistent(&mutex) == 0);
    assert(pthread_mutex_unlock(&mutex) == 0);
    assert(pthread_mutex_lock(&mutex) == 0);
#else
    assert(error == 0);
#endif
    pthread_mutex_unlock(&mutex);
    return arg;
}
static void *end_with_it(void *arg)
{
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&mutex);
    is_ready = 1;
    pthread_cond_signal(&ready);
    return arg;
}
int main(void)
{
    pthread_t waiter, owner;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_create(&waiter, 0, wait_for_it, 0);
    pthread_create(&owner, 0, end_with_it, 0);
    pthread_join(waiter, 0);
    pthread_join(owner, 0);
    return 0;
}
