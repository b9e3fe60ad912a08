//~ about: a relaxed addition by a third thread continues a release sequence; a relaxed store does not
//~ revisions: bug fixed
//~ command: hunt scan
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static int data;
static atomic_int state;
static void *give(void *arg)
{
    data = 1;
    atomic_store_explicit(&state, 1, memory_order_release);
    return arg;
}
static void *bump(void *arg)
{
#ifdef FIXED
    int one = 1;
    atomic_compare_exchange_strong_explicit(&state, &one, 2, memory_order_relaxed, memory_order_relaxed);
#else
    if (atomic_load_explicit(&state, memory_order_relaxed) == 1)
        atomic_store_explicit(&state, 2, memory_order_relaxed);
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, give, 0);
    pthread_create(&b, 0, bump, 0);
    if (atomic_load_explicit(&state, memory_order_acquire) == 2) {
        volatile int d = data;
        (void)d;
    }
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
