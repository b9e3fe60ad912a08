// A worker checks whether it should continue, and then locks. In between everything can be torn down.
//
// preemptions: 2
//
// The twin is right because main waits for the worker first.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_mutex_t lock;
static atomic_int stop;
static int rounds;

static void *work(void *unused) {
    (void)unused;
    if (stop)
        return NULL;
    pthread_mutex_lock(&lock); //~ misuse
    rounds++;
    pthread_mutex_unlock(&lock); //~ also misuse
    return NULL;
}

int main(void) {
    pthread_mutex_init(&lock, NULL);
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    stop = 1;
    pthread_mutex_destroy(&lock); //~ misuse
    pthread_join(worker, NULL);
    return 0;
}
