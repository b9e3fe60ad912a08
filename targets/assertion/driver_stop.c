// A driver lets a request in if it is not stopping, and counts it afterwards. In between it can stop completely,
// and the request runs in a stopped driver.
//
// preemptions: 2
//
// The twin is right because the request is counted first, and withdrawn if the driver is stopping.

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int pending = 1, stopping, stopped;
static sem_t idle;

static void leave(void) {
    if (atomic_fetch_sub(&pending, 1) == 1)
        sem_post(&idle);
}

static void *request(void *unused) {
    (void)unused;
    if (stopping)
        return NULL;
    atomic_fetch_add(&pending, 1);
    int is_stopped = stopped;
    assert(!is_stopped); //~ assertion
    leave();
    return NULL;
}

int main(void) {
    pthread_t client;
    sem_init(&idle, 0, 0);
    pthread_create(&client, NULL, request, NULL);
    stopping = 1;
    leave();
    sem_wait(&idle);
    stopped = 1;
    pthread_join(client, NULL);
    return 0;
}
