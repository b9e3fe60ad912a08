// verdict: race C
#include <pthread.h>

int owned;
int x;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *thread(void *argument) {
    pthread_mutex_lock(&lock);
    if (owned == 0) {
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
    pthread_t one;
    pthread_create(&one, 0, thread, 0);
    pthread_mutex_lock(&lock);
    int is_free = owned == 0;
    pthread_mutex_unlock(&lock);
    if (is_free)
        x = 5; // by now somebody may have it
    pthread_join(one, 0);
    return 0;
}
