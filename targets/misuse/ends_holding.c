// A thread that finds nothing to do returns without unlocking. It goes unnoticed, since main only tries to lock.
//
// preemptions: 1
//
// The twin is right because the lock is released on every way out.

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs;

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock); //~ misuse
    if (jobs == 0)
        return NULL;
    jobs--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    if (pthread_mutex_trylock(&lock) == 0) {
        jobs++;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(worker, NULL);
    return 0;
}
