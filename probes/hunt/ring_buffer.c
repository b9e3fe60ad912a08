//~ about: a ring buffer for one producer and one consumer, with and without one place that is left free
//~ revisions: full ok
//~[full] truth: assertion race
//~[ok] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
enum { SIZE = 2 };
static int ring[SIZE];
static atomic_uint head, tail;
static int put(int value)
{
    unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
#ifdef FULL
    if (at - atomic_load_explicit(&tail, memory_order_acquire) > SIZE)
#else
    if (at - atomic_load_explicit(&tail, memory_order_acquire) >= SIZE)
#endif
        return 0;
    ring[at % SIZE] = value;
    atomic_store_explicit(&head, at + 1, memory_order_release);
    return 1;
}
static int take(int *value)
{
    unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
    if (at == atomic_load_explicit(&head, memory_order_acquire))
        return 0;
    *value = ring[at % SIZE];
    atomic_store_explicit(&tail, at + 1, memory_order_release);
    return 1;
}
static void *produce(void *arg)
{
    for (int i = 1; i <= 3; i++)
        put(i);
    return arg;
}
int main(void)
{
    pthread_t t;
    int value, last = 0;
    pthread_create(&t, 0, produce, 0);
    for (int i = 0; i < 3; i++)
        if (take(&value)) {
            assert(value > last);
            last = value;
        }
    pthread_join(t, 0);
    return 0;
}
