// A thread tells another one where its result is: in a local variable. The other reads it, but the thread does not
// wait for that, and can be over by then.
//
// preemptions: 1
//
// The twin is right because the thread waits until its result was taken.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static int *volatile result;
static sem_t ready;
static sem_t taken;

static void *compute(void *argument) {
    int sum = *(int *)argument + 1; //~ use-after-free
    result = &sum;
    sem_post(&ready);
    return NULL;
}

int main(void) {
    int argument = 1;
    pthread_t thread;
    sem_init(&ready, 0, 0);
    sem_init(&taken, 0, 0);
    pthread_create(&thread, NULL, compute, &argument);
    sem_wait(&ready);
    int seen = *result; //~ use-after-free
    sem_post(&taken);
    pthread_join(thread, NULL);
    return seen > 1000;
}
