// Fixed twin of joined_twice.c: only the watcher waits for the worker.

#include <pthread.h>
#include <stddef.h>

static pthread_t worker;

static void *work(void *unused) {
    return unused;
}

static void *watch(void *unused) {
    pthread_join(worker, NULL);
    return unused;
}

int main(void) {
    pthread_t watcher;
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&watcher, NULL, watch, NULL);
    pthread_join(watcher, NULL);
    return 0;
}
