// Two threads clean up: each looks under the lock whether there is something left, frees it, and says so under the lock.
//
// preemptions: 1
//
// The twin is right because the thread that finds the memory takes it in the same critical section.

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *memory;

static void clean_up(void) {
    pthread_mutex_lock(&lock);
    int *found = memory;
    pthread_mutex_unlock(&lock);
    if (found == NULL)
        return;
    free(found); //~ double-free
    pthread_mutex_lock(&lock);
    memory = NULL;
    pthread_mutex_unlock(&lock);
}

static void *cleaner(void *unused) {
    (void)unused;
    clean_up();
    return NULL;
}

int main(void) {
    memory = malloc(sizeof *memory);
    pthread_t thread;
    pthread_create(&thread, NULL, cleaner, NULL);
    clean_up();
    pthread_join(thread, NULL);
    return 0;
}
