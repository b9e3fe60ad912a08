// A ticket lock whose tickets overflow. There are two different tickets, and with three threads two of them can have
// the same one.
//
// preemptions: 1
//
// The twin is right because tickets have room for all threads.

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#define TICKETS 2u

static atomic_uint next, serving;
static atomic_int inside;

static void *work(void *unused) {
    unsigned ticket = atomic_fetch_add(&next, 1) % TICKETS;
    for (int i = 0; i < 100 && serving % TICKETS != ticket; i++)
        sched_yield();
    if (serving % TICKETS != ticket)
        return unused;
    int others = inside++;
    assert(others == 0); //~ assertion
    inside--;
    serving++;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
