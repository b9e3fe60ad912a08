// bug: assertion
// A producer and two consumers of a ring. Consumers look whether there is something, and take it in a second step.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { ITEMS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ring[ITEMS], written, taken;

static int available(void) {
    pthread_mutex_lock(&lock);
    int n = written - taken;
    pthread_mutex_unlock(&lock);
    return n;
}

static void *produce(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        ring[written++] = i + 1;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *unused) {
    for (int i = 0; i < 2; i++)
        if (available() > 0) {
            pthread_mutex_lock(&lock);
            assert(taken < written);
            assert(ring[taken++] != 0);
            pthread_mutex_unlock(&lock);
        }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, produce, 0);
    for (int i = 1; i < 3; i++)
        pthread_create(&threads[i], 0, consume, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
