// The program waits for its thread before it calls exit.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int closed;

static void close_all(void) {
    atomic_store(&closed, 1);
}

static void *work(void *unused) {
    (void)unused;
    assert(!atomic_load(&closed));
    return NULL;
}

int main(void) {
    pthread_t worker;
    atexit(close_all);
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    exit(0);
}
