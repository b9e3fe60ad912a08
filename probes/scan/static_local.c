//~ about: a function with a static local variable
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int next(void)
{
#ifdef BUG
    static int n;
#else
    static __thread int n;
#endif
    return ++n;
}
static void *work(void *arg)
{
    volatile int v = next();
    (void)v;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
