// A statistic is updated while only the reader side of the lock is held, which two threads can hold at once.
//
// preemptions: 0
//
// The twin is right because the writer side excludes all others.

#include <pthread.h>

int hits;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *look_up(void *unused) {
    (void)unused;
    pthread_rwlock_rdlock(&lock);
    hits = hits + 1; //~ data-race
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, look_up, NULL);
    pthread_create(&second, NULL, look_up, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return hits > 2;
}
