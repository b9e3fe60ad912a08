//~ about: the lock is an element of an array on the thread's stack
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t global[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int n;
static void *work(void *arg)
{
    pthread_mutex_t local[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
#ifdef BUG
    pthread_mutex_t *m = local + 1;
#else
    pthread_mutex_t *m = global + 1;
    (void)local;
#endif
    pthread_mutex_lock(m);
    n++;
    pthread_mutex_unlock(m);
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
