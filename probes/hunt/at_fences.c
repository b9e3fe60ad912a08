//~ about: relaxed accesses with fences around them; one fence is missing
//~ revisions: bug fixed
//~ command: hunt scan
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static int data;
static atomic_int ready;
static void *give(void *arg)
{
    data = 1;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, give, 0);
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
#ifdef FIXED
        atomic_thread_fence(memory_order_acquire);
#endif
        volatile int d = data;
        (void)d;
    }
    pthread_join(a, 0);
    return 0;
}
