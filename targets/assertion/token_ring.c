// Each station adds one to what its predecessor left. Nothing makes a station wait for its predecessor; it only
// mostly comes later.
//
// preemptions: 0
//
// The twin is right because a semaphore for each station hands the token on.

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

#define STATIONS 3

static int passed[STATIONS + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *station(void *number) {
    int me = *(int *)number;
    pthread_mutex_lock(&lock);
    passed[me + 1] = passed[me] + 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[STATIONS];
    int numbers[STATIONS] = {0, 1, 2};
    for (int i = 0; i < STATIONS; i++)
        pthread_create(&threads[i], NULL, station, &numbers[i]);
    for (int i = 0; i < STATIONS; i++)
        pthread_join(threads[i], NULL);
    assert(passed[STATIONS] == STATIONS); //~ assertion
    return 0;
}
