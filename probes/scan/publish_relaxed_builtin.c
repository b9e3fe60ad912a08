//~ about: a plain pointer is stored by a relaxed builtin, or by one that releases
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifdef BUG
#define ORDER __ATOMIC_RELAXED
#else
#define ORDER __ATOMIC_RELEASE
#endif
struct item { int value; };
static struct item *box;
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
    __atomic_store_n(&box, new, ORDER);
    return arg;
}
static void *reader(void *arg)
{
    struct item *found = __atomic_load_n(&box, __ATOMIC_ACQUIRE);
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
