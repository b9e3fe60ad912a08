// verdict: race C
#include <pthread.h>
#include <stdlib.h>

int count;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

void *work(void *argument) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return 0;
}

void *more(void *argument) {
    pthread_mutex_lock(&other);
    count++;
    pthread_mutex_unlock(&other);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, more, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
