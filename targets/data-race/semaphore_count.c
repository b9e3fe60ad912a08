// A semaphore is used as a lock but starts at two, so two threads can be inside. Seen only when one thread is
// interrupted inside: otherwise the post of the first orders the second.
//
// preemptions: 1
//
// The twin is right because a semaphore that starts at one lets one thread in at a time.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

int n;
static sem_t lock;

static void *increment(void *unused) {
    (void)unused;
    sem_wait(&lock);
    n = n + 1; //~ data-race
    sem_post(&lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    sem_init(&lock, 0, 2);
    pthread_create(&first, NULL, increment, NULL);
    pthread_create(&second, NULL, increment, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    sem_destroy(&lock);
    return n > 2;
}
