//~ about: a mutex in new memory is initialised, and published by a relaxed store or one that releases
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
struct account { pthread_mutex_t lock; int balance; };
static _Atomic(struct account *) account;
static void *opener(void *arg)
{
    struct account *new = malloc(sizeof *new);
    if (!new)
        exit(1);
    pthread_mutex_init(&new->lock, 0);
    atomic_store_explicit(&account, new, ORDER);
    return arg;
}
static void *user(void *arg)
{
    struct account *found = atomic_load_explicit(&account, memory_order_acquire);
    if (found) {
        pthread_mutex_lock(&found->lock);
        found->balance = 1;
        pthread_mutex_unlock(&found->lock);
    }
    return arg;
}
int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], 0, opener, 0);
    pthread_create(&threads[1], 0, user, 0);
    pthread_create(&threads[2], 0, user, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    pthread_join(threads[2], 0);
    return 0;
}
