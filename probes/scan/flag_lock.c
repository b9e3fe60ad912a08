//~ about: spin locks that are flags, truth values or compare-exchanges
//~ revisions: flag truth function swapped relaxed late inverted once other_bit both
//~ truth: clean
//~ want: proved
//~[relaxed] truth: race
//~[late] truth: race
//~[inverted] truth: race
//~[once] truth: race
//~[other_bit] truth: race
//~[both] truth: race
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
static int data;
#if defined SWAPPED
static int taken;
static bool take(void)
{
    return !__sync_bool_compare_and_swap(&taken, 0, 1);
}
static void give(void)
{
    __sync_lock_release(&taken);
}
#elif defined OTHER_BIT || defined BOTH
static atomic_uchar taken;
static bool take(void)
{
#ifdef BOTH
    return atomic_exchange(&taken, data & 1 ? 2 : 1) & 1;
#else
    return atomic_exchange(&taken, 2) & 1;
#endif
}
static void give(void)
{
    atomic_store(&taken, 0);
}
#elif defined TRUTH || defined RELAXED || defined LATE || defined INVERTED
static atomic_bool taken;
static bool take(void)
{
#if defined RELAXED
    return atomic_exchange_explicit(&taken, true, memory_order_relaxed);
#elif defined INVERTED
    return !atomic_exchange_explicit(&taken, true, memory_order_acquire);
#else
    return atomic_exchange_explicit(&taken, true, memory_order_acquire);
#endif
}
static void give(void)
{
#ifdef LATE
    atomic_store_explicit(&taken, false, memory_order_relaxed);
#else
    atomic_store_explicit(&taken, false, memory_order_release);
#endif
}
#else
static atomic_flag taken = ATOMIC_FLAG_INIT;
static bool take(void)
{
    return atomic_flag_test_and_set_explicit(&taken, memory_order_acquire);
}
static void give(void)
{
    atomic_flag_clear_explicit(&taken, memory_order_release);
}
#endif
static void *work(void *unused)
{
#if defined ONCE
    if (take()) {
    }
#elif defined FLAG
    while (atomic_flag_test_and_set(&taken)) {
    }
#else
    while (take()) {
    }
#endif
    data++;
    give();
    return unused;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, work, 0);
    pthread_create(&other, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return data != 2;
}
