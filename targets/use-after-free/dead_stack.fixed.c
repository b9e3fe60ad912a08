// Fixed twin of dead_stack.c: the thread waits until its result was taken.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static int *volatile result;
static sem_t ready;
static sem_t taken;

static void *compute(void *argument) {
    int sum = *(int *)argument + 1;
    result = &sum;
    sem_post(&ready);
    sem_wait(&taken);
    return NULL;
}

int main(void) {
    int argument = 1;
    pthread_t thread;
    sem_init(&ready, 0, 0);
    sem_init(&taken, 0, 0);
    pthread_create(&thread, NULL, compute, &argument);
    sem_wait(&ready);
    int seen = *result;
    sem_post(&taken);
    pthread_join(thread, NULL);
    return seen > 1000;
}
