// Main waits for a signal without looking whether there is still something to wait for. A signal that comes before
// the wait is lost, and main waits for ever.
//
// preemptions: 1
//
// The twin is right because the event is remembered in a variable, which main checks under the lock before it
// waits.

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t event = PTHREAD_COND_INITIALIZER;

static void *announce(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&event);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, announce, NULL);
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&event, &lock); //~ lost-wakeup
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    return 0;
}
