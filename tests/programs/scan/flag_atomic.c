// verdict: race C
#include <pthread.h>
#include <stdatomic.h>

atomic_int ready;
int data;

void *reader(void *argument) {
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        ;
    int seen = data;
    return (void *)(long)seen;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, reader, 0);
    data = 7;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    pthread_join(other, 0);
    return 0;
}
