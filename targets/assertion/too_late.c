// Figure 1 of the variable-bounding paper: a check that holds only before the other thread has run. It needs an
// order of the threads, but no preemption.
//
// preemptions: 0
// variables: 0
// threads: 2
//
// The twin is right because the check has ended before the other thread starts.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a;

static void *check(void *unused) {
    (void)unused;
    int seen = a;
    assert(seen == 0); //~ assertion
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
    pthread_create(&second, NULL, change, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
