// An early return unlocks, and so does the caller.
//
// preemptions: 1
//
// The twin is right because only the caller unlocks.

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock;

static int take_one(void) {
    if (stock == 0) {
        pthread_mutex_unlock(&lock); //~ misuse
        return 0;
    }
    return stock--;
}

static void *deliver(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock); //~ also misuse
    stock++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_mutex_lock(&lock);
    stock = 0;
    pthread_mutex_unlock(&lock);
    pthread_t thread;
    pthread_create(&thread, NULL, deliver, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, deliver, NULL);
    int taken = 0;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        taken += take_one() != 0;
        pthread_mutex_unlock(&lock); //~ misuse
    }
    pthread_join(thread, NULL);
    return taken > 2;
}
