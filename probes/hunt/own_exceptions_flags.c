//~ about: the flags of floating point belong to each thread
//~ truth: clean
#include <assert.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
static void *divide(void *arg)
{
    volatile double zero = 0, x = 1;
    feclearexcept(FE_ALL_EXCEPT);
    x = x / zero;
    sched_yield();
    assert(fetestexcept(FE_DIVBYZERO));
    return arg;
}
static void *calm(void *arg)
{
    feclearexcept(FE_ALL_EXCEPT);
    sched_yield();
    sched_yield();
    assert(!fetestexcept(FE_DIVBYZERO));
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, divide, 0);
    pthread_create(&b, 0, calm, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
