// A thread tries to take the lock and continues with the update whether it got it or not.
//
// preemptions: 1
//
// The twin is right because the lock is waited for.

#include <pthread.h>

int n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *patient(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    n = n + 1; //~ data-race
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *hasty(void *unused) {
    (void)unused;
    int taken = pthread_mutex_trylock(&lock) == 0;
    n = n + 1; //~ data-race
    if (taken)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, patient, NULL);
    pthread_create(&second, NULL, hasty, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return n > 2;
}
