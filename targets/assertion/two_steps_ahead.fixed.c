// Fixed twin of two_steps_ahead.c: a lock is held over both reads, and by the writers.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *read_twice(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int first = a;
    int second = a;
    pthread_mutex_unlock(&lock);
    assert(second <= first + 1);
    return NULL;
}

static void *change(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    a++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t reader, writers[2];
    pthread_create(&reader, NULL, read_twice, NULL);
    pthread_create(&writers[0], NULL, change, NULL);
    pthread_create(&writers[1], NULL, change, NULL);
    pthread_join(reader, NULL);
    pthread_join(writers[0], NULL);
    pthread_join(writers[1], NULL);
    return 0;
}
