//~ about: a loop that waits for another thread, and changes the rounding mode or the raised exceptions each time
//~ revisions: rounding exceptions steady
//~ truth: assertion
//~[steady] truth: clean
//~ flags: -lm
//~ preemptions: 1
//~ want: found
//~[steady] want: proved
#include <assert.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static atomic_int stop;
static int is_last(void)
{
#if defined ROUNDING
    switch (fegetround()) {
    case FE_TONEAREST:
        return fesetround(FE_UPWARD);
    case FE_UPWARD:
        return fesetround(FE_TOWARDZERO);
    default:
        return 1;
    }
#elif defined EXCEPTIONS
    if (!fetestexcept(FE_OVERFLOW))
        return feraiseexcept(FE_OVERFLOW);
    if (!fetestexcept(FE_DIVBYZERO))
        return feraiseexcept(FE_DIVBYZERO);
    return 1;
#else
    return fegetround() != FE_TONEAREST;
#endif
}
static void *wait(void *arg)
{
    while (!atomic_load(&stop))
        assert(!is_last());
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, wait, NULL);
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    return 0;
}
