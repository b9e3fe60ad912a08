// Fixed twin of between_two.c: the check has ended before the second change starts.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a;

static void *change(void *unused) {
    (void)unused;
    a++;
    return NULL;
}

static void *check(void *unused) {
    (void)unused;
    int seen = a;
    assert(seen != 2);
    return NULL;
}

int main(void) {
    pthread_t first, second, checker;
    pthread_create(&checker, NULL, check, NULL);
    pthread_create(&first, NULL, change, NULL);
    pthread_join(checker, NULL);
    pthread_create(&second, NULL, change, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
