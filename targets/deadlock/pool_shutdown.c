// A pool's worker checks the stop flag before it takes the lock. If the pool is shut down between the check and
// the wait, the wake-up is lost: the worker waits for work, main for the worker.
//
// preemptions: 1
//
// The twin is right because the flag is checked under the lock, which the shutdown takes as well.

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static sem_t started, gone;

static void *serve(void *unused) {
    (void)unused;
    sem_post(&started);
    while (!stop) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&work, &lock); //~ lost-wakeup
        pthread_mutex_unlock(&lock);
    }
    sem_post(&gone);
    return NULL;
}

int main(void) {
    pthread_t worker;
    sem_init(&started, 0, 0);
    sem_init(&gone, 0, 0);
    pthread_create(&worker, NULL, serve, NULL);
    sem_wait(&started);
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);
    sem_wait(&gone); //~ lost-wakeup
    pthread_join(worker, NULL);
    return 0;
}
