//~ about: destructors of thread-specific data count in a global variable
//~ revisions: racy locked again
//~[racy] truth: race
//~[locked] truth: clean
//~[again] truth: double-free
#include <pthread.h>
#include <stdlib.h>
static pthread_key_t key;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void destroy(void *p)
{
#ifdef RACY
    n++;
#else
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
#endif
    free(p);
#ifdef AGAIN
    static __thread int rounds;
    if (!rounds++)
        pthread_setspecific(key, p);
#endif
}
static void *work(void *arg)
{
    pthread_setspecific(key, malloc(8));
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_key_create(&key, destroy);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
