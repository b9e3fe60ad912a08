// Fixed twin of two_locks.c: one lock guards both.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int low, high;
static pthread_mutex_t low_lock = PTHREAD_MUTEX_INITIALIZER;

static void *shift(void *unused) {
    (void)unused;
    pthread_mutex_lock(&low_lock);
    low = 5;
    high = 15;
    pthread_mutex_unlock(&low_lock);
    return NULL;
}

static void *measure(void *unused) {
    (void)unused;
    pthread_mutex_lock(&low_lock);
    int from = low;
    int to = high;
    pthread_mutex_unlock(&low_lock);
    assert(to - from == 10);
    return NULL;
}

int main(void) {
    pthread_t writer, reader;
    high = 10;
    pthread_create(&writer, NULL, shift, NULL);
    pthread_create(&reader, NULL, measure, NULL);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return 0;
}
