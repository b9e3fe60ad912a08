// verdict: race C
#include <pthread.h>
#include <stdatomic.h>

atomic_int ready;
int data;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// The writer has a lock, which the reader does not take, and its store shows nothing of what was done before.
void *reader(void *argument) {
    if (atomic_load_explicit(&ready, memory_order_acquire))
        data++;
    return 0;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, reader, 0);
    data = 7;
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    pthread_join(other, 0);
    return 0;
}
