//~ about: the rounding mode belongs to each thread
//~ truth: clean
//~ flags: -frounding-math
#include <assert.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
static void *up(void *arg)
{
    fesetround(FE_UPWARD);
    sched_yield();
    assert(fegetround() == FE_UPWARD);
    return arg;
}
static void *near_(void *arg)
{
    sched_yield();
    assert(fegetround() == FE_TONEAREST);
    sched_yield();
    volatile double one = 1.0, three = 3.0;
    double q = one / three;
    assert(q * 3.0 == 1.0);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, up, 0);
    pthread_create(&b, 0, near_, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(fegetround() == FE_TONEAREST);
    return 0;
}
