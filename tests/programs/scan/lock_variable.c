// verdict: race C
#include <pthread.h>
#include <stdlib.h>

int owned;
int x;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *thread(void *argument) {
    pthread_mutex_lock(&lock);
    if (owned == 0 || argument == 0) {
        owned = 1;
        pthread_mutex_unlock(&lock);
        x++;
        pthread_mutex_lock(&lock);
        owned = 0;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, thread, 0);
    pthread_create(&two, 0, thread, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
