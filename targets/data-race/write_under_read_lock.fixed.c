// Fixed twin of write_under_read_lock.c: the writer side excludes all others.

#include <pthread.h>

int hits;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *look_up(void *unused) {
    (void)unused;
    pthread_rwlock_wrlock(&lock);
    hits = hits + 1;
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
