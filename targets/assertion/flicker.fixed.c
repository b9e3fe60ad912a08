// Fixed twin of flicker.c: a lock is held over both reads and over both writes.

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
    assert(first == second);
    return NULL;
}

static void *flicker(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    a = 1;
    a = 0;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t reader, writer;
    pthread_create(&reader, NULL, read_twice, NULL);
    pthread_create(&writer, NULL, flicker, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
