// Fixed twin of condition_destroyed.c: the thread is gone before the condition variable is.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static int stop;

static void *wait_for_stop(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!stop)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_cond_init(&changed, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_stop, NULL);
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&changed);
    return 0;
}
