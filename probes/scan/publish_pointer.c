//~ about: a structure is filled after its address was published, or before
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct item { int value; };
static _Atomic(struct item *) box;
static void *one(void *arg)
{
    struct item *i = malloc(sizeof *i);
    if (!i)
        return 0;
#ifdef BUG
    atomic_store(&box, i);
    i->value = 7;
#else
    i->value = 7;
    atomic_store(&box, i);
#endif
    return arg;
}
static void *two(void *arg)
{
    struct item *i = atomic_load(&box);
    if (i) {
        volatile int v = i->value;
        (void)v;
    }
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
