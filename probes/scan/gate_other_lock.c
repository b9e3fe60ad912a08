//~ about: the thread takes another lock than the one that its creator holds
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t o = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
#ifdef BUG
    pthread_mutex_lock(&o);
    pthread_mutex_unlock(&o);
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
    pthread_mutex_lock(&o);
    pthread_mutex_unlock(&o);
    pthread_mutex_lock(&m);
    pthread_create(&a, 0, work, 0);
    n++;
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
