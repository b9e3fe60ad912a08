// A bounded buffer with a single condition variable for producers and consumers. A signal that is meant for a producer
// can wake a consumer, which goes back to sleep.
//
// preemptions: 0
//
// The twin is right because every change wakes all who wait.

#include <pthread.h>
#include <stddef.h>

static int full;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *produce(void *unused) {
    pthread_mutex_lock(&lock);
    while (full)
        pthread_cond_wait(&changed, &lock); //~ lost-wakeup
    full = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *consume(void *unused) {
    pthread_mutex_lock(&lock);
    while (!full)
        pthread_cond_wait(&changed, &lock); //~ lost-wakeup
    full = 0;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i < 2 ? produce : consume, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL); //~ lost-wakeup
    return 0;
}
