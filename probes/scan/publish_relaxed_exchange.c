//~ about: memory is published by a relaxed exchange, or by one that releases
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifdef BUG
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_release
#endif
struct item { int value; };
static _Atomic(struct item *) box;
static volatile int seen;
static struct item *make(void)
{
    struct item *new = malloc(sizeof *new);
    if (!new)
        exit(1);
    new->value = 7;
    return new;
}
static void *writer(void *arg)
{
    struct item *new = make();
    atomic_exchange_explicit(&box, new, ORDER);
    return arg;
}
static void *reader(void *arg)
{
    struct item *found = atomic_load_explicit(&box, memory_order_acquire);
    if (found)
        seen = found->value;
    return arg;
}
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
