// Fixed twin of too_late.c: the check has ended before the other thread starts.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a;

static void *check(void *unused) {
    (void)unused;
    int seen = a;
    assert(seen == 0);
    return NULL;
}

static void *change(void *unused) {
    (void)unused;
    a++;
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, check, NULL);
    pthread_join(first, NULL);
    pthread_create(&second, NULL, change, NULL);
    pthread_join(second, NULL);
    return 0;
}
