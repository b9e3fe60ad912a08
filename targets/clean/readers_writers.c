// Readers and writers without starvation: all pass a turnstile in turn, the first reader locks the writers
// out and the last one lets them in again.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

int value, readers;
static sem_t turnstile, room_empty;
static pthread_mutex_t readers_lock = PTHREAD_MUTEX_INITIALIZER;

static void *write_value(void *unused) {
    (void)unused;
    sem_wait(&turnstile);
    sem_wait(&room_empty);
    value = value + 1;
    sem_post(&turnstile);
    sem_post(&room_empty);
    return NULL;
}

static void *read_value(void *result) {
    sem_wait(&turnstile);
    sem_post(&turnstile);

    pthread_mutex_lock(&readers_lock);
    if (++readers == 1)
        sem_wait(&room_empty);
    pthread_mutex_unlock(&readers_lock);

    *(int *)result = value;

    pthread_mutex_lock(&readers_lock);
    if (--readers == 0)
        sem_post(&room_empty);
    pthread_mutex_unlock(&readers_lock);
    return NULL;
}

int main(void) {
    pthread_t reader_threads[2], writer;
    int results[2] = {0, 0};
    sem_init(&turnstile, 0, 1);
    sem_init(&room_empty, 0, 1);
    pthread_create(&reader_threads[0], NULL, read_value, &results[0]);
    pthread_create(&writer, NULL, write_value, NULL);
    pthread_create(&reader_threads[1], NULL, read_value, &results[1]);
    pthread_join(reader_threads[0], NULL);
    pthread_join(writer, NULL);
    pthread_join(reader_threads[1], NULL);
    return value != 1 || results[0] > 1 || results[1] > 1;
}
