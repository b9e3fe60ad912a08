// verdict: race C
#include <pthread.h>

int busy;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int data;

// The flag goes back to zero, so that it says nothing about the past.
void *thread(void *argument) {
    pthread_mutex_lock(&lock);
    int seen = busy;
    pthread_mutex_unlock(&lock);
    if (seen)
        data++;
    return 0;
}

int main(void) {
    pthread_t one;
    pthread_create(&one, 0, thread, 0);
    pthread_mutex_lock(&lock);
    busy = 1;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    busy = 0;
    pthread_mutex_unlock(&lock);
    data = 1;
    pthread_join(one, 0);
    return 0;
}
