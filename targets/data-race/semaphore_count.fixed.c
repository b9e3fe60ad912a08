// Fixed twin of semaphore_count.c: a semaphore that starts at one lets one thread in at a time.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

int n;
static sem_t lock;

static void *increment(void *unused) {
    (void)unused;
    sem_wait(&lock);
    n = n + 1;
    sem_post(&lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    sem_init(&lock, 0, 1);
    pthread_create(&first, NULL, increment, NULL);
    pthread_create(&second, NULL, increment, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    sem_destroy(&lock);
    return n > 2;
}
