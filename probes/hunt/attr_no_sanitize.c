//~ about: functions that ask not to be instrumented
//~ revisions: attribute flag
//~[flag] flags: -fno-sanitize=thread
//~ truth: assertion race
//~ want: no-claim
#include <assert.h>
#include <pthread.h>
static int n;
#ifdef ATTRIBUTE
__attribute__((no_sanitize("thread")))
#endif
static void *add(void *arg)
{
    int v = n;
    for (volatile int i = 0; i < 100; i++)
        ;
    n = v + 1;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
