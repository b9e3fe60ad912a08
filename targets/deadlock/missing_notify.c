// A bounded buffer signals its consumers only when it was empty. If both consumers wait while two items are put
// in, one of them is never woken, and main waits for its report.
//
// preemptions: 1
//
// The twin is right because every item is announced.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static sem_t taken;

static void put(void) {
    pthread_mutex_lock(&lock);
    count++;
    if (count == 1)
        pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static void *take(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&not_empty, &lock); //~ deadlock
    count--;
    pthread_mutex_unlock(&lock);
    sem_post(&taken);
    return NULL;
}

int main(void) {
    pthread_t consumers[2];
    sem_init(&taken, 0, 0);
    pthread_create(&consumers[0], NULL, take, NULL);
    pthread_create(&consumers[1], NULL, take, NULL);
    put();
    put();
    for (int i = 0; i < 2; i++)
        sem_wait(&taken); //~ deadlock
    pthread_join(consumers[0], NULL);
    pthread_join(consumers[1], NULL);
    return count;
}
