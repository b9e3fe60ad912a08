// Listing 2 of the watchpoint paper. If `publish` runs first, the read of `b` orders the two writes of `a`; the
// other order has the same branch taken and no order at all.
//
// preemptions: 0
//
// The twin is right because the write is made only when `b` was seen as set, which orders it.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int a;
static atomic_int b;
static atomic_int c = 2;

static void *publish(void *unused) {
    (void)unused;
    a = 1; //~ data-race
    b = 1;
    return NULL;
}

static void *follow(void *unused) {
    (void)unused;
    if (b != c)
        a = 2; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, publish, NULL);
    pthread_create(&second, NULL, follow, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return a == 0;
}
