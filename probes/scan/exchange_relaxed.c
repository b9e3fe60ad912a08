//~ about: a lock by a relaxed exchange
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
static atomic_int lk;
static int n;
static void *work(void *arg)
{
    while (atomic_exchange_explicit(&lk, 1, memory_order_relaxed))
        ;
    n++;
    atomic_store_explicit(&lk, 0, memory_order_release);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
