// Fixed twin of two_of_two.c: a lock is held over all four reads, and by the writers.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a, b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *read_both_twice(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int first_a = a, second_a = a;
    int first_b = b, second_b = b;
    pthread_mutex_unlock(&lock);
    assert(first_a == second_a || first_b == second_b);
    return NULL;
}

static void *change(void *variable) {
    pthread_mutex_lock(&lock);
    atomic_fetch_add((atomic_int *)variable, 1);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t reader, writers[2];
    pthread_create(&reader, NULL, read_both_twice, NULL);
    pthread_create(&writers[0], NULL, change, &a);
    pthread_create(&writers[1], NULL, change, &b);
    pthread_join(reader, NULL);
    pthread_join(writers[0], NULL);
    pthread_join(writers[1], NULL);
    return 0;
}
