//~ about: a reader-writer lock: what is written under a read lock
//~ revisions: reader writer
//~[reader] truth: race
//~[writer] truth: clean
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int hits;
static void *work(void *arg)
{
#ifdef READER
    pthread_rwlock_rdlock(&l);
#else
    pthread_rwlock_wrlock(&l);
#endif
    hits++;
    pthread_rwlock_unlock(&l);
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
