// Fixed twin of happens_before_blind.c: the write is made only when `b` was seen as set, which orders it.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int a;
static atomic_int b;
static atomic_int c = 2;

static void *publish(void *unused) {
    (void)unused;
    a = 1;
    b = 1;
    return NULL;
}

static void *follow(void *unused) {
    (void)unused;
    if (b == c - 1)
        a = 2;
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
