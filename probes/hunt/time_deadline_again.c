//~ about: a thread is preempted before a wait whose deadline has passed; what it waits for comes meanwhile
//~ revisions: semaphore mutex reads writes join ordered
//~ truth: assertion
//~[ordered] truth: clean
//~ preemptions: 1
//~ want: found
//~[ordered] want: proved
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <time.h>
static const struct timespec past;
static sem_t posted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_t first;
static void *give(void *arg)
{
#if defined SEMAPHORE || defined ORDERED
    sem_post(&posted);
#elif defined MUTEX
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
#elif defined READS || defined WRITES
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
#endif
    return arg;
}
/* The first attempt fails, the second one does not. */
static void *look(void *arg)
{
#if defined SEMAPHORE
    assert(sem_trywait(&posted) == 0 || sem_timedwait(&posted, &past) != 0);
#elif defined ORDERED
    int first = sem_timedwait(&posted, &past), second = sem_timedwait(&posted, &past);
    assert(first != 0 || second != 0);
#elif defined MUTEX
    if (pthread_mutex_trylock(&mutex) == 0)
        pthread_mutex_unlock(&mutex);
    else
        assert(pthread_mutex_timedlock(&mutex, &past) != 0);
#elif defined READS
    if (pthread_rwlock_tryrdlock(&lock) == 0)
        pthread_rwlock_unlock(&lock);
    else
        assert(pthread_rwlock_timedrdlock(&lock, &past) != 0);
#elif defined WRITES
    if (pthread_rwlock_trywrlock(&lock) == 0)
        pthread_rwlock_unlock(&lock);
    else
        assert(pthread_rwlock_timedwrlock(&lock, &past) != 0);
#else
    assert(pthread_tryjoin_np(first, NULL) == 0 || pthread_timedjoin_np(first, NULL, &past) != 0);
#endif
    return arg;
}
int main(void)
{
    pthread_t second;
    sem_init(&posted, 0, 0);
    pthread_create(&first, NULL, give, NULL);
    pthread_create(&second, NULL, look, NULL);
#ifndef JOIN
    pthread_join(first, NULL);
#endif
    pthread_join(second, NULL);
    return 0;
}
