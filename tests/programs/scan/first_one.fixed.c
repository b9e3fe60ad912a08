// verdict: race-free B
#include <pthread.h>

int state;
int top;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t other_lock = PTHREAD_MUTEX_INITIALIZER;

// The first one makes it, under one lock; the others use it, under another.
void *thread(void *argument) {
    pthread_mutex_lock(&lock);
    if (state == 0) {
        top = 1;
        state = 1;
        pthread_mutex_unlock(&lock);
    } else {
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&other_lock);
        top++;
        pthread_mutex_unlock(&other_lock);
    }
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, thread, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
