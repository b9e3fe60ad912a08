// The threads exchange cells after a barrier, but nothing keeps a fast thread from overwriting its cell before the
// other one has read it: a second barrier is missing.
//
// preemptions: 0
//
// The twin is right because a second barrier separates reading from overwriting.

#include <pthread.h>
#include <stddef.h>

int cells[2];
static pthread_barrier_t barrier;

static void *exchange(void *number) {
    int me = *(int *)number;
    cells[me] = me + 1;
    pthread_barrier_wait(&barrier);
    int theirs = cells[1 - me]; //~ data-race
    cells[me] = theirs; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int numbers[2] = {0, 1};
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&first, NULL, exchange, &numbers[0]);
    pthread_create(&second, NULL, exchange, &numbers[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_barrier_destroy(&barrier);
    return cells[0] < 1 || cells[1] < 1;
}
