// Producer and consumer with semaphores in the wrong order: the consumer takes the lock of the buffer, then waits for
// an item. The producer cannot bring one without the lock.
//
// preemptions: 0
//
// The twin is right because the consumer waits for an item first.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t items, lock;
static int buffer[2], count;

static void *produce(void *unused) {
    for (int i = 0; i < 2; i++) {
        sem_wait(&lock); //~ deadlock
        buffer[count++] = i;
        sem_post(&lock);
        sem_post(&items);
    }
    return unused;
}

static void *consume(void *unused) {
    for (int i = 0; i < 2; i++) {
        sem_wait(&lock);
        sem_wait(&items); //~ deadlock
        count--;
        sem_post(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t producer, consumer;
    sem_init(&items, 0, 0);
    sem_init(&lock, 0, 1);
    pthread_create(&producer, NULL, produce, NULL);
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_join(producer, NULL); //~ deadlock
    pthread_join(consumer, NULL);
    return count;
}
