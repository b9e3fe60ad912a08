//~ about: two locks in opposite orders, with and without a third one around them
//~ revisions: plain gated
//~[plain] truth: deadlock
//~[gated] truth: clean
#include <pthread.h>
static pthread_mutex_t g = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
#ifdef GATED
    pthread_mutex_lock(&g);
#endif
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
#ifdef GATED
    pthread_mutex_unlock(&g);
#endif
}
static void *other(void *arg)
{
    both(&b, &a);
    return arg;
}
int main(void)
{
    pthread_t t;
    (void)g;
    pthread_create(&t, 0, other, 0);
    both(&a, &b);
    pthread_join(t, 0);
    return 0;
}
