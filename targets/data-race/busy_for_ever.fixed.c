// One of the threads computes for ever. What others could notice is protected by a lock.

#include <pthread.h>
#include <stddef.h>

int started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *begin(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    started++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *compute(void *unused) {
    begin(unused);
    for (;;) {
        // Opaque to the compiler, and invisible to other threads.
        __asm__ volatile("");
    }
}

int main(void) {
    pthread_t busy, worker;
    pthread_create(&busy, NULL, compute, NULL);
    pthread_create(&worker, NULL, begin, NULL);
    pthread_join(worker, NULL);
    return 0;
}
