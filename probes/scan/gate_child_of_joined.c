//~ about: a thread that passed the gate was joined, but one that it created is still running
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_t inner;
static void *leaf(void *arg)
{
    n++;
    return arg;
}
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_create(&inner, 0, leaf, 0);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_mutex_lock(&m);
    pthread_create(&a, 0, work, 0);
#ifndef BUG
    n++;
#endif
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
#ifdef BUG
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
#endif
    pthread_join(inner, 0);
    return 0;
}
