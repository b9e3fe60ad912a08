//~ about: a function of atexit shares a counter with a detached thread
//~ revisions: racy ok
//~[racy] truth: race
//~[ok] truth: clean
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void add(void)
{
#ifdef OK
    pthread_mutex_lock(&m);
#endif
    n++;
#ifdef OK
    pthread_mutex_unlock(&m);
#endif
}
static void *work(void *arg)
{
    add();
    return arg;
}
static void at_end(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    add();
    pthread_join(t, 0);
}
int main(void)
{
    pthread_t t;
    atexit(at_end);
    pthread_create(&t, 0, work, 0);
    pthread_detach(t);
    return 0;
}
