// A thread tries to lock, and unlocks whether it got the lock or not: then it is another thread that holds it.
//
// preemptions: 0
//
// The twin is right because who does not get the lock does not unlock it.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static sem_t over;
static int misses;

static void *attempt(void *unused) {
    (void)unused;
    if (pthread_mutex_trylock(&turn) != 0)
        misses = 1;
    pthread_mutex_unlock(&turn); //~ misuse
    sem_post(&over);
    return NULL;
}

int main(void) {
    pthread_t thread;
    sem_init(&over, 0, 0);
    pthread_create(&thread, NULL, attempt, NULL);
    pthread_mutex_lock(&turn); //~ misuse
    sem_wait(&over);
    pthread_mutex_unlock(&turn);
    pthread_join(thread, NULL);
    return misses > 1;
}
