// Two threads add one to a counter through a temporary, without a lock. Both may read the same value, and then one
// of the two updates is lost.
//
// preemptions: 0
//
// The twin is right because a mutex makes reading and writing back one step, and orders the two threads.

#include <pthread.h>
#include <stdio.h>

int n;

static void *increment(void *unused) {
    (void)unused;
    int seen = n; //~ data-race
    n = seen + 1; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, increment, NULL);
    pthread_create(&second, NULL, increment, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("n = %d\n", n);
    return 0;
}
