//~ about: the address of a local of main is published by a relaxed store, or by one that releases
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#ifdef BUG
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_release
#endif
struct item { int value; };
static _Atomic(struct item *) box;
static volatile int seen;
static void *reader(void *arg)
{
    struct item *found = atomic_load_explicit(&box, memory_order_acquire);
    if (found)
        seen = found->value;
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    struct item local = {7};
    atomic_store_explicit(&box, &local, ORDER);
    pthread_join(thread, 0);
    return 0;
}
