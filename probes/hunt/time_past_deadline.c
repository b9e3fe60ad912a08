//~ about: waits whose deadline passed long ago end at once unless nothing is to be waited for
//~ revisions: semaphore mutex reads writes tries
//~[semaphore] truth: assertion
//~[semaphore] options: --analysis thread-bound
//~[mutex] truth: race
//~[mutex] options: --analysis thread-bound
//~[reads] truth: race
//~[writes] truth: race
//~[tries] truth: clean
//~ want: found
//~[tries] want: proved
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <time.h>
static const struct timespec past;
static sem_t posted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int shared, result;
static void *wait(void *arg)
{
#if defined SEMAPHORE
    result = sem_timedwait(&posted, &past);
#elif defined MUTEX
    int error = pthread_mutex_timedlock(&mutex, &past);
    shared++;
    if (!error)
        pthread_mutex_unlock(&mutex);
#elif defined READS
    int error = pthread_rwlock_timedrdlock(&lock, &past);
    result = shared;
    if (!error)
        pthread_rwlock_unlock(&lock);
#elif defined WRITES
    int error = pthread_rwlock_timedwrlock(&lock, &past);
    shared++;
    if (!error)
        pthread_rwlock_unlock(&lock);
#else
    if (pthread_mutex_timedlock(&mutex, &past) == 0) {
        shared++;
        pthread_mutex_unlock(&mutex);
    }
#endif
    return arg;
}
static void *act(void *arg)
{
#if defined SEMAPHORE
    sem_post(&posted);
#elif defined READS || defined WRITES
    pthread_rwlock_wrlock(&lock);
    shared++;
    pthread_rwlock_unlock(&lock);
#else
    pthread_mutex_lock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    sem_init(&posted, 0, 0);
    pthread_create(&a, NULL, wait, NULL);
    pthread_create(&b, NULL, act, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(result == 0 || shared);
    return 0;
}
