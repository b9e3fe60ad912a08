//~ about: a copy of a text is published by a relaxed store, or by one that releases
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#ifdef BUG
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_release
#endif
static _Atomic(char *) box;
static void *writer(void *arg)
{
    char *new = strdup("text");
    atomic_store_explicit(&box, new, ORDER);
    return arg;
}
static void *reader(void *arg)
{
    char *found = atomic_load_explicit(&box, memory_order_acquire);
    if (found)
        puts(found);
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
