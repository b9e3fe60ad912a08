//~ about: a weak compare-exchange may fail although the value is the expected one
//~ revisions: once loop
//~[once] truth: assertion
//~[once] unless-assumes: weak compare-exchange
//~[loop] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int value;
static void *set(void *arg)
{
    int expected = 0;
#ifdef ONCE
    assert(atomic_compare_exchange_weak(&value, &expected, 1));
#else
    while (!atomic_compare_exchange_weak(&value, &expected, 1))
        expected = 0;
#endif
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    pthread_join(thread, 0);
    return 0;
}
