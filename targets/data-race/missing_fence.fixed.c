// Fixed twin of missing_fence.c: a release fence before the store pairs with the acquire fence after the load.
// (ThreadSanitizer does not know fences and reports the twin: that is a false report.)

#include <pthread.h>
#include <stdatomic.h>

int payload;
static atomic_int ready;

static void *publish(void *unused) {
    (void)unused;
    payload = 42;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return NULL;
}

static void *consume(void *result) {
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        *(int *)result = payload;
    }
    return NULL;
}

int main(void) {
    pthread_t producer, consumer;
    int result = 0;
    pthread_create(&producer, NULL, publish, NULL);
    pthread_create(&consumer, NULL, consume, &result);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    return result != 0 && result != 42;
}
