//~ about: a function of at_quick_exit and a thread that continues
//~ revisions: racy ok
//~[racy] truth: race
//~[ok] truth: clean
#include <pthread.h>
#include <stdlib.h>
static int n;
static void at_end(void)
{
    n++;
}
static void *work(void *arg)
{
    n++;
    return arg;
}
int main(void)
{
    pthread_t t;
    at_quick_exit(at_end);
    pthread_create(&t, 0, work, 0);
#ifdef OK
    pthread_join(t, 0);
#endif
    quick_exit(0);
}
