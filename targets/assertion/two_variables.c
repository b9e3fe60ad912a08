// Figure 4 of the variable-bounding paper: one preemption at each of two variables is needed.
//
// preemptions: 2
// variables: 2
// threads: 2
//
// The twin is right because a lock makes the three writes one step.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a, b;

static void *look(void *unused) {
    (void)unused;
    int first = a;
    int second = a;
    int third = b;
    assert(first == second || third != 1); //~ assertion
    return NULL;
}

static void *change(void *unused) {
    (void)unused;
    a = 1;
    b = 1;
    b = 0;
    return NULL;
}

int main(void) {
    pthread_t reader, writer;
    pthread_create(&reader, NULL, look, NULL);
    pthread_create(&writer, NULL, change, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
