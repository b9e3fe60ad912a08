// verdict: race C
#include <pthread.h>
#include <stdlib.h>

int value;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

void *work(void *argument) {
    pthread_rwlock_rdlock(&lock);
    value++;
    pthread_rwlock_unlock(&lock);
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
