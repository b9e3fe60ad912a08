// A spin lock that is given back by a relaxed store. It keeps others out, but hands on nothing that was written inside.
//
// preemptions: 0
//
// The twin is right because the lock is given back with release order.

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

int counter;
static atomic_int locked;

static void *add(void *unused) {
    while (atomic_exchange_explicit(&locked, 1, memory_order_acquire))
        sched_yield();
    counter++; //~ data-race
    atomic_store_explicit(&locked, 0, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, add, NULL);
    pthread_create(&threads[1], NULL, add, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return counter > 2;
}
