//~ about: the pointer to the lock changes while the threads use it
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t x = PTHREAD_MUTEX_INITIALIZER, y = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(pthread_mutex_t *) current = &x;
static int n;
static void *work(void *arg)
{
    pthread_mutex_t *m = current;
    pthread_mutex_lock(m);
    n++;
    pthread_mutex_unlock(m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
#ifdef BUG
    current = &y;
#endif
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
