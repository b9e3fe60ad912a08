// Fixed twin of driver_stop.c: the request is counted first, and withdrawn if the driver is stopping.

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
    atomic_fetch_add(&pending, 1);
    if (!stopping) {
        int is_stopped = stopped;
        assert(!is_stopped);
    }
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
