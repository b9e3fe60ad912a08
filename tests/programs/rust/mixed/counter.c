// Called by Rust, from several threads.
#include <pthread.h>

static long count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

long counter_add(void) {
    return ++count;
}

long counter_add_locked(void) {
    pthread_mutex_lock(&lock);
    long now = ++count;
    pthread_mutex_unlock(&lock);
    return now;
}
