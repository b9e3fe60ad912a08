// The worker decides after each round whether there is another one, and main announces the last round only when it
// is over. A worker that looks too early waits at the barrier for a round that nobody else takes part in.
//
// preemptions: 0
//
// The twin is right because main announces the last round before it enters it, and the worker looks only after a
// round.

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int last_round;
static pthread_barrier_t round_end;
static sem_t gone;

static void *work(void *unused) {
    (void)unused;
    do {
        pthread_barrier_wait(&round_end); //~ deadlock
    } while (!last_round);
    sem_post(&gone);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_barrier_init(&round_end, NULL, 2);
    sem_init(&gone, 0, 0);
    pthread_create(&worker, NULL, work, NULL);
    pthread_barrier_wait(&round_end);
    last_round = 1;
    sem_wait(&gone); //~ deadlock
    pthread_join(worker, NULL);
    return 0;
}
