// Fixed twin of barrier_extra_round.c: main announces the last round before it enters it, and the worker looks
// only after a round.

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
        pthread_barrier_wait(&round_end);
    } while (!last_round);
    sem_post(&gone);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_barrier_init(&round_end, NULL, 2);
    sem_init(&gone, 0, 0);
    pthread_create(&worker, NULL, work, NULL);
    last_round = 1;
    pthread_barrier_wait(&round_end);
    sem_wait(&gone);
    pthread_join(worker, NULL);
    return 0;
}
