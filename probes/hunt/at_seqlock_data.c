//~ about: a sequence lock: its data has to be atomic
//~ revisions: plain atomic
//~[plain] truth: race
//~[atomic] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint sequence;
#ifdef PLAIN
static int a, b;
#define READ(x) (x)
#define WRITE(x, v) ((x) = (v))
#else
static atomic_int a, b;
#define READ(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define WRITE(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)
#endif
static void *writer(void *arg)
{
    atomic_store_explicit(&sequence, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    WRITE(a, 1);
    WRITE(b, 1);
    atomic_store_explicit(&sequence, 2, memory_order_release);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    int x = READ(a), y = READ(b);
    atomic_thread_fence(memory_order_acquire);
    unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
    if (before == after && !(before & 1))
        assert(x == y);
    pthread_join(t, 0);
    return 0;
}
