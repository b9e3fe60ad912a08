// Fixed twin of spin_relaxed.c: the lock is given back with release order.

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

int counter;
static atomic_int locked;

static void *add(void *unused) {
    while (atomic_exchange_explicit(&locked, 1, memory_order_acquire))
        sched_yield();
    counter++;
    atomic_store_explicit(&locked, 0, memory_order_release);
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
