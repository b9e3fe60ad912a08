//~ about: an atomic_flag as a lock, given back with too weak an order
//~ revisions: bug fixed
//~ command: hunt scan
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static atomic_flag lk = ATOMIC_FLAG_INIT;
static int n;
static void *add(void *arg)
{
    while (atomic_flag_test_and_set_explicit(&lk, memory_order_acquire))
        ;
    n++;
#ifdef BUG
    atomic_flag_clear_explicit(&lk, memory_order_relaxed);
#else
    atomic_flag_clear_explicit(&lk, memory_order_release);
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
