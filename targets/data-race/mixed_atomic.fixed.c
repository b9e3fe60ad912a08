// Fixed twin of mixed_atomic.c: the reset is atomic as well.

#include <pthread.h>
#include <stddef.h>

int n;

static void *count(void *unused) {
    (void)unused;
    __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void *reset(void *unused) {
    (void)unused;
    __atomic_store_n(&n, 0, __ATOMIC_RELAXED);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, count, NULL);
    pthread_create(&second, NULL, reset, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return n > 1;
}
