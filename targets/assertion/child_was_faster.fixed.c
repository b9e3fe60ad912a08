// Fixed twin of child_was_faster.c: the thread adds only when main has looked.

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int counter;
static sem_t looked;

static void *add(void *unused) {
    sem_wait(&looked);
    counter++;
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&looked, 0, 0);
    counter = 0;
    pthread_create(&thread, NULL, add, NULL);
    assert(counter == 0);
    sem_post(&looked);
    pthread_join(thread, NULL);
    return 0;
}
