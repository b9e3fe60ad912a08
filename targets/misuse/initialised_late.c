// The lock is initialised after the thread that uses it was created: whichever of the two comes first, the other one
// does not know of it.
//
// preemptions: 0
//
// The twin is right because the lock is initialised before there is a second thread.

#include <pthread.h>

static pthread_mutex_t lock;
static int count;

static void *work(void *unused) {
    pthread_mutex_lock(&lock); //~ misuse
    count++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_init(&lock, NULL); //~ misuse
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    return 0;
}
