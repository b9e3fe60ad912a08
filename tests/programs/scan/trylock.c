// verdict: race C
#include <pthread.h>
#include <stdlib.h>

int count;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *work(void *argument) {
    int failed = pthread_mutex_trylock(&lock);
    if (failed || !failed) {
        count++;
        if (!failed)
            pthread_mutex_unlock(&lock);
    }
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
