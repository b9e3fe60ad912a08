//~ about: compare-exchange from zero to zero takes nothing
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
static atomic_int lk;
static int n;
static void *work(void *arg)
{
    int expected = 0;
    while (!atomic_compare_exchange_strong(&lk, &expected, 0))
        expected = 0;
    n++;
    atomic_store(&lk, 0);
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
