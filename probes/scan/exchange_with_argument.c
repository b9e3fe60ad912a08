//~ about: an exchange with a value that one thread is given as zero
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
static atomic_long lk;
static int n;
static void *work(void *arg)
{
    while (atomic_exchange(&lk, (long)arg))
        ;
    n++;
    atomic_store(&lk, 0);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
