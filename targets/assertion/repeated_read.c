// Figure 2 of the variable-bounding paper: two reads of one variable are expected to agree.
//
// preemptions: 1
// variables: 1
// threads: 2
//
// The twin is right because a lock is held over both reads, and by the writer.

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

static void *change(void *unused) {
    (void)unused;
    a++;
    return NULL;
}

int main(void) {
    pthread_t reader, writer;
    pthread_create(&reader, NULL, read_twice, NULL);
    pthread_create(&writer, NULL, change, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
