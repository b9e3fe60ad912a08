// The predicate of a condition variable is set before the lock is taken. No wake-up is lost, because signalling
// happens under the lock, but the predicate itself is read and written without order.
//
// preemptions: 0
//
// The twin is right because the predicate is set under the lock.

#include <pthread.h>

int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *finish(void *unused) {
    (void)unused;
    ready = 1; //~ data-race
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, finish, NULL);
    pthread_mutex_lock(&lock);
    while (!ready) //~ data-race
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    return 0;
}
