// A condition variable with two mutexes: the one who waits holds another one than the one who signals. So the signal
// can come between the check of the flag and the wait.
//
// preemptions: 1
//
// The twin is right because both use the same mutex.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int ready;
static pthread_mutex_t readers = PTHREAD_MUTEX_INITIALIZER, writers = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *announce(void *unused) {
    pthread_mutex_lock(&writers);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&writers);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, announce, NULL);
    pthread_mutex_lock(&readers);
    while (!ready)
        pthread_cond_wait(&changed, &readers); //~ lost-wakeup
    pthread_mutex_unlock(&readers);
    pthread_join(thread, NULL);
    return 0;
}
