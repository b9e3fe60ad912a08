// Figure 10 of the variable-bounding paper: the reader must be interrupted twice, by two different threads, at two
// different variables.
//
// preemptions: 2
// variables: 2
// threads: 3
//
// The twin is right because a lock is held over all four reads, and by the writers.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a, b;

static void *read_both_twice(void *unused) {
    (void)unused;
    int first_a = a, second_a = a;
    int first_b = b, second_b = b;
    assert(first_a == second_a || first_b == second_b); //~ assertion
    return NULL;
}

static void *change(void *variable) {
    atomic_fetch_add((atomic_int *)variable, 1);
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
