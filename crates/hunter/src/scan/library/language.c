/* Functions of the C++ run-time library behind language features: static locals and `std::call_once`, for the analysis only.
   None of this is executed. Each function is defined only if the program calls it. */
#include <pthread.h>

/* The first byte of a guard is nonzero once its variable is initialised. The lock stands for the others waiting meanwhile:
   each guard has its own, inside the guard, where nothing else reads or writes. */
#ifdef WANT_guard
static pthread_mutex_t *lock_of(char *guard) { return (pthread_mutex_t *)(guard + 1); }

int __cxa_guard_acquire(char *guard)
{
    pthread_mutex_lock(lock_of(guard));
    if (__atomic_load_n(guard, __ATOMIC_ACQUIRE)) {
        pthread_mutex_unlock(lock_of(guard));
        return 0;
    }
    return 1;
}

void __cxa_guard_release(char *guard)
{
    __atomic_store_n(guard, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(lock_of(guard));
}

void __cxa_guard_abort(char *guard) { pthread_mutex_unlock(lock_of(guard)); }
#endif

/* `std::call_once` leaves what it calls in variables of its thread. */
#ifdef WANT_once
__thread void *_ZSt15__once_callable;
__thread void (*_ZSt11__once_call)(void);

void __once_proxy(void) { _ZSt11__once_call(); }
#endif
