// A thread is cancelled while it holds a lock, which then stays locked for ever.
//
// preemptions: 0
//
// The twin is right because a cleanup handler unlocks.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t item;
int taken;

static void unlock(void *mutex) { pthread_mutex_unlock(mutex); }

static void *take(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock); //~ also misuse
    sem_wait(&item);
    taken++;
    unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    sem_init(&item, 0, 0);
    pthread_create(&thread, NULL, take, NULL);
    pthread_cancel(thread);
    sem_post(&item);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock); //~ deadlock
    taken++;
    pthread_mutex_unlock(&lock);
    return 0;
}
