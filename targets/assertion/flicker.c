// Figure 3 of the variable-bounding paper: the writer sets a value and takes it back, so that both threads must be
// interrupted at the same variable for the two reads to disagree.
//
// preemptions: 2
// variables: 1
// threads: 2
//
// The twin is right because a lock is held over both reads and over both writes.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a;

static void *read_twice(void *unused) {
    (void)unused;
    int first = a;
    int second = a;
    assert(first == second); //~ assertion
    return NULL;
}

static void *flicker(void *unused) {
    (void)unused;
    a = 1;
    a = 0;
    return NULL;
}

int main(void) {
    pthread_t reader, writer;
    pthread_create(&reader, NULL, read_twice, NULL);
    pthread_create(&writer, NULL, flicker, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
