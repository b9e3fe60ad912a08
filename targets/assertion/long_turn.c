// The second thread relies on the first one not being done. The schedule that shows the opposite is the simplest of all, one
// thread after the other, but the first one makes half a million private accesses before it is done.
// preemptions: 0
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int done;
volatile int scratch[64];

static void *work(void *unused) {
    for (int i = 0; i < 500000; i++)
        scratch[i & 63] = i;
    atomic_store(&done, 1);
    return unused;
}

static void *look(void *unused) {
    assert(!atomic_load(&done)); //~ assertion
    return unused;
}

int main(void) {
    pthread_t worker, looker;
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&looker, NULL, look, NULL);
    pthread_join(worker, NULL);
    pthread_join(looker, NULL);
    return 0;
}
