// Main waits until a thread has come, wakes it, and destroys the condition variable. The thread may not have begun to wait
// when it is woken, and waits later.
//
// preemptions: 1
//
// The twin is right because the thread is gone before the condition variable is.

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
        pthread_cond_wait(&changed, &lock); //~ misuse //~ also data-race
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_cond_init(&changed, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_stop, NULL);
    pthread_cond_destroy(&changed); //~ misuse //~ also data-race
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_broadcast(&changed); //~ also misuse
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
