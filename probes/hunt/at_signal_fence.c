//~ about: a signal fence orders a thread and its handlers, and nothing between threads
//~ truth: race
//~ command: hunt scan
#include <pthread.h>
#include <stdatomic.h>
static int data;
static atomic_int ready;
static void *give(void *arg)
{
    data = 1;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, give, 0);
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        atomic_signal_fence(memory_order_seq_cst);
        volatile int d = data;
        (void)d;
    }
    pthread_join(a, 0);
    return 0;
}
