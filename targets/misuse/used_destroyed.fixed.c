// Fixed twin of used_destroyed.c: main waits for the worker before it takes the lock down.

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
    pthread_mutex_lock(&lock);
    rounds++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_mutex_init(&lock, NULL);
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    stop = 1;
    pthread_join(worker, NULL);
    pthread_mutex_destroy(&lock);
    return 0;
}
