//~ about: a spin lock is released by a relaxed store, or with the right order
//~ revisions: exchanged compared fixed
//~ truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <pthread.h>
static int taken, data;
static void *work(void *unused)
{
#ifdef COMPARED
    int free = 0;
    while (!__atomic_compare_exchange_n(&taken, &free, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        free = 0;
#else
    while (__atomic_exchange_n(&taken, 1, __ATOMIC_SEQ_CST)) {
    }
#endif
    data++; //~ bug
#ifdef FIXED
    __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
#else
    __atomic_store_n(&taken, 0, __ATOMIC_RELAXED);
#endif
    return unused;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, work, 0);
    pthread_create(&other, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
