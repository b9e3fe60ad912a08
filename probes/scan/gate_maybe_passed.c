//~ about: a thread takes the lock on one path only
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
#ifdef BUG
    if (pthread_mutex_trylock(&m) == 0)
        pthread_mutex_unlock(&m);
#else
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
#endif
    n++;
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_mutex_lock(&m);
    pthread_create(&a, 0, work, 0);
    n++;
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
