// A semaphore is waited for, and the result is ignored. A signal handler ends the wait too early.
//
// preemptions: 1
//
// The twin is right because it waits again when a handler has interrupted it.

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static sem_t ready;
static atomic_int item;
static pthread_t consumer;

static void on_signal(int signal) { (void)signal; }

static void *produce(void *unused) {
    (void)unused;
    pthread_kill(consumer, SIGUSR1);
    atomic_store(&item, 1);
    sem_post(&ready);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct sigaction action = {.sa_handler = on_signal};
    sem_init(&ready, 0, 0);
    sigaction(SIGUSR1, &action, NULL);
    consumer = pthread_self();
    pthread_create(&thread, NULL, produce, NULL);
    sem_wait(&ready);
    assert(atomic_load(&item) == 1); //~ assertion
    pthread_join(thread, NULL);
    return 0;
}
