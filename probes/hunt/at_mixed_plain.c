//~ about: one thread uses a builtin, the other one a plain access to the same variable
//~ truth: race
//~ command: hunt scan
#include <pthread.h>
static int n;
static void *add(void *arg)
{
    __sync_fetch_and_add(&n, 1);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, add, 0);
    volatile int seen = n;
    (void)seen;
    pthread_join(a, 0);
    return 0;
}
