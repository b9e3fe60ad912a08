//~ about: two threads hold the lock one after the other, and what the first created is still running
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_t made[2];

static void *other(void *arg)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return arg;
}
static void *work(void *arg)
{
    n++;
    return arg;
}
static void *creator(void *arg)
{
    long i = (long)arg;
    pthread_mutex_lock(&m);
    pthread_create(&made[i], 0, work, 0);
#ifndef BUG
    pthread_join(made[i], 0);
#endif
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, creator, (void *)0);
    pthread_create(&b, 0, creator, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
#ifdef BUG
    pthread_join(made[0], 0);
    pthread_join(made[1], 0);
#endif
    return 0;
}
