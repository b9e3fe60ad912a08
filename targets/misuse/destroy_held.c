// A thread says that it is done just before it leaves its critical section, and main takes everything down.
//
// preemptions: 1
//
// The twin is right because the thread says so after it has unlocked.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static pthread_mutex_t lock;
static sem_t done;
static int total;

static void *add(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock); //~ misuse
    total++;
    sem_post(&done);
    pthread_mutex_unlock(&lock); //~ also misuse
    return NULL;
}

int main(void) {
    pthread_mutex_init(&lock, NULL);
    sem_init(&done, 0, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    sem_wait(&done);
    pthread_mutex_destroy(&lock); //~ misuse
    pthread_join(thread, NULL);
    return total > 1;
}
