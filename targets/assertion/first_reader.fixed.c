// Fixed twin of first_reader.c: readers count and take the room under their own lock, which the second reader
// waits for.

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int readers, left, right;
static sem_t room;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

static void *write_both(void *unused) {
    sem_wait(&room);
    left++;
    right++;
    sem_post(&room);
    return unused;
}

static void *read_both(void *unused) {
    pthread_mutex_lock(&door);
    if (atomic_fetch_add(&readers, 1) == 0)
        sem_wait(&room);
    pthread_mutex_unlock(&door);
    assert(left == right);
    pthread_mutex_lock(&door);
    if (atomic_fetch_sub(&readers, 1) == 1)
        sem_post(&room);
    pthread_mutex_unlock(&door);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    sem_init(&room, 0, 1);
    pthread_create(&threads[0], NULL, write_both, NULL);
    pthread_create(&threads[1], NULL, read_both, NULL);
    pthread_create(&threads[2], NULL, read_both, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
