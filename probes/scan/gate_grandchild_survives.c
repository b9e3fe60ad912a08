//~ about: a thread ends within the section, but not the thread that it has created
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_t inner;

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
static void *middle(void *arg)
{
    pthread_create(&inner, 0, work, 0);
#ifndef BUG
    pthread_join(inner, 0);
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, other, 0);
    pthread_mutex_lock(&m);
    pthread_create(&b, 0, middle, 0);
    pthread_join(b, 0);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
#ifdef BUG
    pthread_join(inner, 0);
#endif
    return 0;
}
