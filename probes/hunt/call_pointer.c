//~ about: a function is called by a pointer that another thread sets
//~ revisions: racy ok
//~[racy] truth: race crash
//~[ok] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void add(void)
{
    n++;
}
static void (*hook)(void);
static void *set(void *arg)
{
    pthread_mutex_lock(&m);
    hook = add;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, set, 0);
#ifdef OK
    pthread_mutex_lock(&m);
#endif
    if (hook)
        hook();
#ifdef OK
    pthread_mutex_unlock(&m);
#endif
    pthread_join(t, 0);
    return 0;
}
