//~ about: a thread that passes new memory on reads the address by a relaxed operation, or by one that acquires
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifdef BUG
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_acquire
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
    atomic_store_explicit(&box, new, memory_order_release);
    return arg;
}
static _Atomic(struct item *) other;
static void *middleman(void *arg)
{
    struct item *found = atomic_load_explicit(&box, ORDER);
    atomic_store_explicit(&other, found, memory_order_release);
    return arg;
}
static void *reader(void *arg)
{
    struct item *found = atomic_load_explicit(&other, memory_order_acquire);
    if (found)
        seen = found->value;
    return arg;
}
int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, middleman, 0);
    pthread_create(&threads[2], 0, reader, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    pthread_join(threads[2], 0);
    return 0;
}
