//~ about: a chunk whose length is an input, which may be zero
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int next;
static int cell[64], step = 1;
static void *work(void *arg)
{
    int i = atomic_fetch_add(&next, step);
    if (i >= 0 && i < 64)
        cell[i]++;
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    if (argc > 1)
        step = atoi(argv[1]);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
