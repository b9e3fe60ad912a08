//~ about: a lock that is checked twice, the first time by a relaxed load, or by one that acquires
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
static struct item *make(void)
{
    struct item *new = malloc(sizeof *new);
    if (!new)
        exit(1);
    new->value = 7;
    return new;
}
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *get(void)
{
    struct item *found = atomic_load_explicit(&box, ORDER);
    if (!found) {
        pthread_mutex_lock(&lock);
        found = atomic_load_explicit(&box, memory_order_relaxed);
        if (!found) {
            found = make();
            atomic_store_explicit(&box, found, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return found;
}
static void *one(void *arg)
{
    volatile int value = get()->value;
    (void)value;
    return arg;
}
static void *two(void *arg)
{
    volatile int value = get()->value;
    (void)value;
    return arg;
}
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
