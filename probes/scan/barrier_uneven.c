//~ about: both write between the two waits, or one of them after the second
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_barrier_t bar;
static int x;
static void *one(void *arg)
{
    pthread_barrier_wait(&bar);
    x = 1;
    pthread_barrier_wait(&bar);
    return arg;
}
static void *two(void *arg)
{
    pthread_barrier_wait(&bar);
#ifdef FIXED
    pthread_barrier_wait(&bar);
    x = 2;
#else
    x = 2;
    pthread_barrier_wait(&bar);
#endif
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
