// Fixed twin of unlock_by_other.c: who does not get the lock does not unlock it.

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
    else
        pthread_mutex_unlock(&turn);
    sem_post(&over);
    return NULL;
}

int main(void) {
    pthread_t thread;
    sem_init(&over, 0, 0);
    pthread_create(&thread, NULL, attempt, NULL);
    pthread_mutex_lock(&turn);
    sem_wait(&over);
    pthread_mutex_unlock(&turn);
    pthread_join(thread, NULL);
    return misses > 1;
}
