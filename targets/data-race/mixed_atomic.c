// A counter is incremented atomically by one thread and reset with an ordinary store by another. An atomic access
// only helps against other atomic accesses.
//
// preemptions: 0
//
// The twin is right because the reset is atomic as well.

#include <pthread.h>
#include <stddef.h>

int n;

static void *count(void *unused) {
    (void)unused;
    __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED); //~ data-race
    return NULL;
}

static void *reset(void *unused) {
    (void)unused;
    n = 0; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, count, NULL);
    pthread_create(&second, NULL, reset, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return n > 1;
}
