// After figure 9 of the variable-bounding paper: between two reads the value must not grow by more than one, which
// takes one preemption and two other threads.
//
// preemptions: 1
// variables: 1
// threads: 3
//
// The twin is right because a lock is held over both reads, and by the writers.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a;

static void *read_twice(void *unused) {
    (void)unused;
    int first = a;
    int second = a;
    assert(second <= first + 1); //~ assertion
    return NULL;
}

static void *change(void *unused) {
    (void)unused;
    a++;
    return NULL;
}

int main(void) {
    pthread_t reader, writers[2];
    pthread_create(&reader, NULL, read_twice, NULL);
    pthread_create(&writers[0], NULL, change, NULL);
    pthread_create(&writers[1], NULL, change, NULL);
    pthread_join(reader, NULL);
    pthread_join(writers[0], NULL);
    pthread_join(writers[1], NULL);
    return 0;
}
