//~ about: a thread gets a local variable of a function that has returned
//~ revisions: bug fixed
//~[bug] truth: race use-after-free assertion
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
static pthread_t t;
static void *use(void *p)
{
    int v = *(int *)p;
    assert(v == 42);
    return 0;
}
static void start(void)
{
    int local = 42;
    pthread_create(&t, 0, use, &local);
#ifdef FIXED
    pthread_join(t, 0);
#endif
}
static void other(void)
{
    volatile int fill[64];
    for (int i = 0; i < 64; i++)
        fill[i] = i;
}
int main(void)
{
    start();
    other();
#ifdef BUG
    pthread_join(t, 0);
#endif
    return 0;
}
