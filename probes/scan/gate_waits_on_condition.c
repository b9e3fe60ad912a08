//~ about: the creator waits on a condition, which releases the lock, while the thread is running
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void *other(void *arg)
{
    pthread_mutex_lock(&m);
    n++;
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
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
    pthread_mutex_lock(&m);
#ifdef BUG
    pthread_create(&b, 0, work, 0);
#endif
    while (!ready)
        pthread_cond_wait(&c, &m);
#ifndef BUG
    pthread_create(&b, 0, work, 0);
#endif
    pthread_join(b, 0);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
