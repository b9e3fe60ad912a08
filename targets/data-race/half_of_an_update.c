// Figure 4b of the RacerF paper, with the lock left out of main. A number is 0 for a moment and 1 again. The thread
// writes to it without the lock if it sees the 0, which the lock of the paper's program makes impossible.
//
// preemptions: 0
//
// The twin is right because main holds the lock during the whole update, as in the paper, so that no thread sees the 0.

#include <pthread.h>
#include <stddef.h>

int number = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *look(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int seen = number; //~ data-race
    pthread_mutex_unlock(&lock);
    if (seen == 1)
        return NULL;
    number = 2; //~ also data-race
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, look, NULL);
    *(volatile int *)&number = 0; //~ data-race
    *(volatile int *)&number = 1; //~ also data-race
    pthread_join(thread, NULL);
    return 0;
}
