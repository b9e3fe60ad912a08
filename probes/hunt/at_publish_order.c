//~ about: data that is published by a flag: what the order of the flag's accesses has to be
//~ revisions: relaxed acquire consume fence
//~[relaxed] truth: race
//~[acquire] truth: clean
//~[consume] truth: race
//~[fence] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static int data;
static atomic_int flag;
static void *publish(void *arg)
{
    data = 1;
#ifdef RELAXED
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
#elif defined FENCE
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
#else
    atomic_store_explicit(&flag, 1, memory_order_release);
#endif
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, publish, 0);
#ifdef ACQUIRE
    if (atomic_load_explicit(&flag, memory_order_acquire))
        data++;
#elif defined FENCE
    if (atomic_load_explicit(&flag, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        data++;
    }
#else
    if (atomic_load_explicit(&flag, memory_order_relaxed))
        data++;
#endif
    pthread_join(t, 0);
    return 0;
}
