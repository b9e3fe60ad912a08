// A thread frees what all threads know, under the lock that all take. A thread that comes after it still finds the
// pointer. No two accesses are without order.
//
// preemptions: 1
//
// The twin is right because the pointer is cleared with the memory, and checked before it is used.

#include <pthread.h>
#include <stdlib.h>

struct Settings {
    int volume;
    int balance;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct Settings *settings;

static void *reset(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    free(settings); //~ use-after-free
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    settings = calloc(1, sizeof *settings);
    pthread_t thread;
    pthread_create(&thread, NULL, reset, NULL);
    pthread_mutex_lock(&lock);
    int volume = settings->volume; //~ use-after-free
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return volume > 1000;
}
