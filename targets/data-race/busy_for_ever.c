// One of the threads computes for ever, without an access that others could notice.
//
// preemptions: 0
//
// The twin is right because what both threads do before is protected by a lock.

#include <pthread.h>
#include <stddef.h>

int started;

static void *begin(void *unused) {
    (void)unused;
    started++; //~ data-race
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
