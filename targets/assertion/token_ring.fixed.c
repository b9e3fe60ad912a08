// Fixed twin of token_ring.c: a semaphore for each station hands the token on.

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

#define STATIONS 3

static int passed[STATIONS + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t token[STATIONS + 1];

static void *station(void *number) {
    int me = *(int *)number;
    sem_wait(&token[me]);
    pthread_mutex_lock(&lock);
    passed[me + 1] = passed[me] + 1;
    pthread_mutex_unlock(&lock);
    sem_post(&token[me + 1]);
    return NULL;
}

int main(void) {
    pthread_t threads[STATIONS];
    int numbers[STATIONS] = {0, 1, 2};
    for (int i = 0; i <= STATIONS; i++)
        sem_init(&token[i], 0, i == 0);
    for (int i = 0; i < STATIONS; i++)
        pthread_create(&threads[i], NULL, station, &numbers[i]);
    for (int i = 0; i < STATIONS; i++)
        pthread_join(threads[i], NULL);
    assert(passed[STATIONS] == STATIONS);
    return 0;
}
