// Figure 4a of the RacerF paper: one thread allocates a number and is joined. Two others add one to it. An analysis
// that does not hand on what a child did to its parent sees no memory here at all.
//
// preemptions: 0
//
// The twin is right because the number is atomic.

#include <pthread.h>
#include <stdlib.h>

int *number;

static void *allocate(void *unused) {
    number = calloc(1, sizeof *number);
    return unused;
}

static void *add(void *unused) {
    (*number)++; //~ data-race
    return unused;
}

int main(void) {
    pthread_t allocator, adders[2];
    pthread_create(&allocator, NULL, allocate, NULL);
    pthread_join(allocator, NULL);
    pthread_create(&adders[0], NULL, add, NULL);
    pthread_create(&adders[1], NULL, add, NULL);
    pthread_join(adders[0], NULL);
    pthread_join(adders[1], NULL);
    int result = *number;
    free(number);
    return result > 2;
}
