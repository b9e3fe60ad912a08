// Two values that belong together are guarded by a lock each. Every access is locked, and still a reader can see a
// new one and an old one.
//
// preemptions: 1
//
// The twin is right because one lock guards both.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int low, high;
static pthread_mutex_t low_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t high_lock = PTHREAD_MUTEX_INITIALIZER;

static void *shift(void *unused) {
    (void)unused;
    pthread_mutex_lock(&low_lock);
    low = 5;
    pthread_mutex_unlock(&low_lock);
    pthread_mutex_lock(&high_lock);
    high = 15;
    pthread_mutex_unlock(&high_lock);
    return NULL;
}

static void *measure(void *unused) {
    (void)unused;
    pthread_mutex_lock(&low_lock);
    int from = low;
    pthread_mutex_unlock(&low_lock);
    pthread_mutex_lock(&high_lock);
    int to = high;
    pthread_mutex_unlock(&high_lock);
    assert(to - from == 10); //~ assertion
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
