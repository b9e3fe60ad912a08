// A worker says that it is done under the lock, and signals after it has released the lock. The waiter can have seen it
// by then, and have freed the condition variable.
//
// preemptions: 0
//
// The twin is right because the signal is sent before the lock is given back.

#include <pthread.h>
#include <stdlib.h>

struct Job {
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int done;
};

static void *work(void *argument) {
    struct Job *job = argument;
    pthread_mutex_lock(&job->lock);
    job->done = 1;
    pthread_mutex_unlock(&job->lock);
    pthread_cond_signal(&job->finished); //~ use-after-free
    return NULL;
}

int main(void) {
    struct Job *job = malloc(sizeof *job);
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->finished, NULL);
    job->done = 0;
    pthread_t worker;
    pthread_create(&worker, NULL, work, job);
    pthread_mutex_lock(&job->lock);
    while (!job->done)
        pthread_cond_wait(&job->finished, &job->lock);
    pthread_mutex_unlock(&job->lock);
    free(job); //~ use-after-free
    pthread_join(worker, NULL);
    return 0;
}
