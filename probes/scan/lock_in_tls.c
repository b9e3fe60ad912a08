//~ about: the lock is thread-local, or one for all
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#ifdef BUG
static __thread pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#else
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#endif
static int n;
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
