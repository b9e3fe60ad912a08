/* A lock that RaceHunter does not see. */
#include <sched.h>
static int word;
void foreign_lock(void)
{
    while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}
void foreign_unlock(void)
{
    __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
}
