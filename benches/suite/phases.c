// bug: deadlock
// Two threads work in phases and wake each other by a condition variable. One of them signals before the other waits.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next = PTHREAD_COND_INITIALIZER;
static int phase;

static void *first(void *unused) {
    pthread_mutex_lock(&lock);
    phase = 1;
    pthread_cond_signal(&next);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    int seen = phase;
    pthread_mutex_unlock(&lock);
    if (seen == 0) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&next, &lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, second, 0);
    pthread_create(&threads[1], 0, first, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
