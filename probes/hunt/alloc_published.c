//~ about: a block is published without order; the function that made it has written to it, or may have
//~ revisions: calloc malloc realloc relaxed_after ordered
//~ truth: race
//~[ordered] truth: clean
//~[ordered] want: proved
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static _Atomic(int *) shared;
#ifdef ORDERED
#define ORDER_OUT memory_order_release
#define ORDER_IN memory_order_acquire
#else
#define ORDER_OUT memory_order_relaxed
#define ORDER_IN memory_order_relaxed
#endif
static void *publishes(void *old)
{
#if defined CALLOC || defined ORDERED
    int *block = calloc(4, sizeof(int));
#elif defined REALLOC
    int *block = realloc(old, 8 * sizeof(int));
#else
    int *block = malloc(4 * sizeof(int));
#endif
#ifdef RELAXED_AFTER
    block[0] = 1;
#endif
    atomic_store_explicit(&shared, block, ORDER_OUT);
    return old;
}
int main(void)
{
    pthread_t thread;
    int *old = calloc(4, sizeof(int)), sum = 0;
    pthread_create(&thread, NULL, publishes, old);
    int *block = atomic_load_explicit(&shared, ORDER_IN);
    if (block) {
#ifdef MALLOC
        block[0] = 1;
#endif
        sum = block[0];
    }
    pthread_join(thread, NULL);
    return sum > 1;
}
