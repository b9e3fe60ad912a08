//~ about: atomic_init is not atomic
//~ truth: race
//~ command: hunt scan
#include <pthread.h>
#include <stdatomic.h>
static atomic_int n;
static void *use(void *arg)
{
    atomic_fetch_add(&n, 1);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, use, 0);
    atomic_init(&n, 5);
    pthread_join(a, 0);
    return 0;
}
