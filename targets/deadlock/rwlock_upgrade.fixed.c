// Fixed twin of rwlock_upgrade.c: the reader side is given back first, and the cache is checked again.

#include <pthread.h>

static int stale;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *invalidate(void *unused) {
    (void)unused;
    pthread_rwlock_wrlock(&lock);
    stale = 1;
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, invalidate, NULL);
    pthread_rwlock_rdlock(&lock);
    if (stale) {
        pthread_rwlock_unlock(&lock);
        pthread_rwlock_wrlock(&lock);
        stale = 0;
    }
    pthread_rwlock_unlock(&lock);
    pthread_join(worker, NULL);
    return stale > 1;
}
