//~ about: a thread is cancelled in a condition wait, and its handler gives the lock back
//~ truth: clean
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int left;
static void unlock(void *arg)
{
    left++;
    pthread_mutex_unlock(&m);
}
static void *wait_for_ever(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(unlock, 0);
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(1);
    return arg;
}
int main(void)
{
    pthread_t a;
    void *r;
    pthread_create(&a, 0, wait_for_ever, 0);
    pthread_cancel(a);
    pthread_join(a, &r);
    assert(r == PTHREAD_CANCELED && left == 1); // cancellation is deferred: it comes in the wait, after the lock
    return 0;
}
