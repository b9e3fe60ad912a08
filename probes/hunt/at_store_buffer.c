//~ about: both stores wait in their buffers: neither thread sees the other's (x86 does that)
//~ revisions: relaxed fenced
//~[relaxed] truth: assertion
//~[relaxed] want: no-claim
//~[relaxed] unless-assumes: sequential
//~[fenced] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y, saw;
static void *left(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
#ifdef FENCED
    atomic_thread_fence(memory_order_seq_cst);
#endif
    if (!atomic_load_explicit(&y, memory_order_relaxed))
        saw++;
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, left, 0);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
#ifdef FENCED
    atomic_thread_fence(memory_order_seq_cst);
#endif
    if (!atomic_load_explicit(&x, memory_order_relaxed))
        saw++;
    pthread_join(a, 0);
    assert(saw < 2);
    return 0;
}
