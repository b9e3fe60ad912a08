// The program does not wait for its thread: when main returns, whatever the thread has not done is left undone.
//
// preemptions: 0
//
// The twin is right because both hold the lock. The missing join is not a race.

#include <pthread.h>
#include <stddef.h>

int total;

static void *count(void *unused) {
    (void)unused;
    total++; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, count, NULL);
    total++; //~ data-race
    return 0;
}
