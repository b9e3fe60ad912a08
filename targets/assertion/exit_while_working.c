// The program calls exit while its thread still works: the thread finds that what it uses was closed.
//
// preemptions: 1
//
// The twin is right because it waits for the thread first.

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
    assert(!atomic_load(&closed)); //~ assertion
    return NULL;
}

int main(void) {
    pthread_t worker;
    atexit(close_all);
    pthread_create(&worker, NULL, work, NULL);
    exit(0);
}
