// The last thread at a barrier destroys it and frees it at once. The other one has passed it by then, though it may not
// have come back from it yet: the C library waits for that.
#include <pthread.h>
#include <stdlib.h>

static void meet(pthread_barrier_t *barrier) {
    if (pthread_barrier_wait(barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_barrier_destroy(barrier);
        free(barrier);
    }
}

static void *come(void *barrier) {
    meet(barrier);
    return NULL;
}

int main(void) {
    pthread_barrier_t *barrier = malloc(sizeof *barrier);
    pthread_barrier_init(barrier, NULL, 2);
    pthread_t other;
    pthread_create(&other, NULL, come, barrier);
    meet(barrier);
    pthread_join(other, NULL);
    return 0;
}
