// verdict: race C
#include <pthread.h>
#include <stdlib.h>

int first, second;
pthread_mutex_t one_lock = PTHREAD_MUTEX_INITIALIZER, two_lock = PTHREAD_MUTEX_INITIALIZER;

static void take(pthread_mutex_t *lock) { pthread_mutex_lock(lock); }
static void give(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }

void *work(void *argument) {
    take(&one_lock);
    first++;
    give(&one_lock);
    take(&two_lock);
    second++;
    give(&two_lock);
    second++;
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
