// The program does not wait for its thread, but both hold the lock.

#include <pthread.h>
#include <stddef.h>

int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, count, NULL);
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    return 0;
}
