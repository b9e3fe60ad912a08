// Two threads wait for the same worker. The second one uses a handle that is not valid any more.
//
// preemptions: 0
//
// The twin is right because one of them waits for the other.

#include <pthread.h>
#include <stddef.h>

static pthread_t worker;

static void *work(void *unused) {
    return unused;
}

static void *watch(void *unused) {
    pthread_join(worker, NULL); //~ misuse
    return unused;
}

int main(void) {
    pthread_t watcher;
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&watcher, NULL, watch, NULL);
    pthread_join(worker, NULL); //~ misuse
    pthread_join(watcher, NULL);
    return 0;
}
