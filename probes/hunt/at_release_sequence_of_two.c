//~ about: a relaxed store of one thread continues its own release sequence and ends the one that another thread heads
//~ revisions: ended own
//~[ended] truth: race
//~[own] truth: clean
//~ want: no-claim
#include <pthread.h>
#include <stdatomic.h>
static int first, second;
static atomic_int flag;
static void *head(void *unused) {
    first = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    if (atomic_load_explicit(&flag, memory_order_relaxed) == 2)
        atomic_store_explicit(&flag, 3, memory_order_relaxed);
    return unused;
}
static void *update(void *unused) {
    second = 1;
    int expected = 1;
    atomic_compare_exchange_strong_explicit(&flag, &expected, 2, memory_order_release, memory_order_relaxed);
    return unused;
}
static void *reader(void *unused) {
    if (atomic_load_explicit(&flag, memory_order_acquire) == 3) {
#ifdef ENDED
        second++;
#else
        first++;
#endif
    }
    return unused;
}
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, head, NULL);
    pthread_create(&threads[1], NULL, update, NULL);
    pthread_create(&threads[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
