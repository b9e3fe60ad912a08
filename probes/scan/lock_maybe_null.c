//~ about: no lock is taken if there is none
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *lock)
{
    if (lock)
        pthread_mutex_lock(lock);
    n++;
    if (lock)
        pthread_mutex_unlock(lock);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, &m);
#ifdef BUG
    pthread_create(&b, 0, work, 0);
#else
    pthread_create(&b, 0, work, &m);
#endif
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
