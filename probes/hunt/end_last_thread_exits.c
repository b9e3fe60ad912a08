//~ about: main leaves by pthread_exit; the last thread runs what atexit has registered, on its own stack
//~ revisions: ok fails
//~[ok] truth: clean
//~[fails] truth: exit-status race
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static int deep(int k)
{
    volatile char room[200];
    memset((char *)room, k, sizeof room);
    return k ? deep(k - 1) + room[k] : 0;
}
static void at_end(void)
{
    volatile int local[64];
    for (int i = 0; i < 64; i++)
        local[i] = deep(5);
    n += local[3];
}
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    n += deep(10);
    pthread_mutex_unlock(&m);
#ifdef FAILS
    if (arg)
        exit(3);
#endif
    return arg;
}
int main(void)
{
    pthread_t t;
    atexit(at_end);
    pthread_create(&t, 0, work, 0);
    pthread_detach(t);
    pthread_create(&t, 0, work, &n);
    pthread_detach(t);
    pthread_exit(0);
}
