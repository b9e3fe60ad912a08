// Figure 5 of the RacerF paper: main sets a counter to 0, starts a thread that adds one, and takes for granted that the
// counter is still 0. An analysis of main alone never gets to the other case.
//
// preemptions: 1
//
// The twin is right because the thread adds only when main has looked.

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int counter;
static sem_t looked;

static void *add(void *unused) {
    counter++;
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&looked, 0, 0);
    counter = 0;
    pthread_create(&thread, NULL, add, NULL);
    assert(counter == 0); //~ assertion
    sem_post(&looked);
    pthread_join(thread, NULL);
    return 0;
}
