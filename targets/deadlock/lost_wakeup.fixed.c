// Fixed twin of lost_wakeup.c: the event is remembered in a variable, which main checks under the lock before it
// waits.

#include <pthread.h>

static int happened;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t event = PTHREAD_COND_INITIALIZER;

static void *announce(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    happened = 1;
    pthread_cond_signal(&event);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, announce, NULL);
    pthread_mutex_lock(&lock);
    while (!happened)
        pthread_cond_wait(&event, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    return 0;
}
