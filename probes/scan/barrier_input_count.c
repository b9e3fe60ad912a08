//~ about: a barrier whose count is an input
//~ truth: race
#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t bar;
static int x;
static void *one(void *arg)
{
    x = 1;
    pthread_barrier_wait(&bar);
    return arg;
}
static void *two(void *arg)
{
    pthread_barrier_wait(&bar);
    x = 2;
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    pthread_barrier_init(&bar, 0, argc > 1 ? (unsigned)atoi(argv[1]) : 2);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
