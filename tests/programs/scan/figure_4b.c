// verdict: race-free B
#include <pthread.h>
#include <stdlib.h>

int g = 1;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *thread(void *argument) {
    pthread_mutex_lock(&lock);
    if (g == 1) {
        pthread_mutex_unlock(&lock);
        return 0;
    }
    pthread_mutex_unlock(&lock);
    g = 2; // never reached: nobody sees g when it is 0
    return 0;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, thread, 0);
    pthread_mutex_lock(&lock);
    g = 0;
    g = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(other, 0);
    return 0;
}
