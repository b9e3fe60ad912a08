//~ about: two readers that both want to become the writer
//~ revisions: bug fixed
//~[bug] truth: deadlock misuse
//~[fixed] truth: clean
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int n;
static void *work(void *arg)
{
    pthread_rwlock_rdlock(&l);
    int empty = n == 0;
#ifdef FIXED
    pthread_rwlock_unlock(&l);
#endif
    if (empty) {
        pthread_rwlock_wrlock(&l);
        n++;
        pthread_rwlock_unlock(&l);
    }
#ifdef BUG
    else
        pthread_rwlock_unlock(&l);
#endif
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
