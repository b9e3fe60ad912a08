// Main ends by pthread_exit, and the process continues until the last thread is done.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>

int value;
static sem_t ready;

static void *finish(void *unused) {
    (void)unused;
    sem_wait(&ready);
    exit(value != 5);
}

int main(void) {
    pthread_t worker;
    sem_init(&ready, 0, 0);
    pthread_create(&worker, NULL, finish, NULL);
    pthread_detach(worker);
    value = 5;
    sem_post(&ready);
    pthread_exit(NULL);
}
