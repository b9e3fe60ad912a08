// A spin lock made of one atomic flag. It gives way while it spins, so every schedule that is fair ends.

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;
static int n;

static void *increment(void *unused) {
    (void)unused;
    while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire))
        sched_yield();
    n = n + 1;
    atomic_flag_clear_explicit(&taken, memory_order_release);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, increment, NULL);
    pthread_create(&second, NULL, increment, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return n != 2;
}
