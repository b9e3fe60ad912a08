// Two threads set two variables one after the other, a third one checks that it sees both or none.
//
// preemptions: 1
//
// The twin is right because a lock makes the two writes one step, and the two reads.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a, b;

static void *set(void *unused) {
    (void)unused;
    a = 1;
    b = -1;
    return NULL;
}

static void *check(void *unused) {
    (void)unused;
    int sum = a;
    sum += b;
    assert(sum == 0); //~ assertion
    return NULL;
}

int main(void) {
    pthread_t setters[2], checker;
    pthread_create(&setters[0], NULL, set, NULL);
    pthread_create(&setters[1], NULL, set, NULL);
    pthread_create(&checker, NULL, check, NULL);
    pthread_join(setters[0], NULL);
    pthread_join(setters[1], NULL);
    pthread_join(checker, NULL);
    return 0;
}
