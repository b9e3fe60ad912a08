// Fixed twin of destroy_held.c: the thread says that it is done after it has unlocked.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static pthread_mutex_t lock;
static sem_t done;
static int total;

static void *add(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    sem_post(&done);
    return NULL;
}

int main(void) {
    pthread_mutex_init(&lock, NULL);
    sem_init(&done, 0, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    sem_wait(&done);
    pthread_mutex_destroy(&lock);
    pthread_join(thread, NULL);
    return total > 1;
}
