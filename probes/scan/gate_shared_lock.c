//~ about: the creator holds the lock only for reading, and so does the other thread
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void *other(void *arg)
{
    pthread_rwlock_rdlock(&rw);
    n++;
    pthread_rwlock_unlock(&rw);
    return arg;
}
static void *work(void *arg)
{
    n++;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, other, 0);
#ifdef BUG
    pthread_rwlock_rdlock(&rw);
#else
    pthread_rwlock_wrlock(&rw);
#endif
    pthread_create(&b, 0, work, 0);
    pthread_join(b, 0);
    pthread_rwlock_unlock(&rw);
    pthread_join(a, 0);
    return 0;
}
