//~ about: a flag that is set without the lock, between the look and the wait of another thread
//~ revisions: lost ok
//~[lost] truth: deadlock lost-wakeup
//~[ok] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int ready;
static void *sets(void *arg)
{
#ifdef OK
    pthread_mutex_lock(&m);
#endif
    ready = 1;
    pthread_cond_signal(&c);
#ifdef OK
    pthread_mutex_unlock(&m);
#endif
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, sets, 0);
    pthread_mutex_lock(&m);
    while (!ready)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
