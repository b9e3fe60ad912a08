//~ about: one thread locks the outer lock, the other one the inner one
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *one(void *arg)
{
    pthread_mutex_lock(&outer);
#ifdef FIXED
    pthread_mutex_lock(&inner);
#endif
    n++;
#ifdef FIXED
    pthread_mutex_unlock(&inner);
#endif
    pthread_mutex_unlock(&outer);
    return arg;
}
static void *two(void *arg)
{
    pthread_mutex_lock(&inner);
    n++;
    pthread_mutex_unlock(&inner);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
