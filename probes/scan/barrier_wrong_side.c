//~ about: written after the barrier, read before the next one, or the other way round
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_barrier_t bar;
static int data;
static void *one(void *arg)
{
    pthread_barrier_wait(&bar);
    data = 1;
#ifdef FIXED
    pthread_barrier_wait(&bar);
#endif
    return arg;
}
static void *two(void *arg)
{
    pthread_barrier_wait(&bar);
#ifdef FIXED
    pthread_barrier_wait(&bar);
#endif
    volatile int d = data;
    (void)d;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&bar, 0, 2);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
