//~ about: a timed wait on the monotonic clock that ends by its limit, and both ends are right
//~ truth: clean
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c;
static int ready;
static void *give(void *arg)
{
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_condattr_t t;
    struct timespec when;
    int r = 0;
    pthread_condattr_init(&t);
    pthread_condattr_setclock(&t, CLOCK_MONOTONIC);
    pthread_cond_init(&c, &t);
    pthread_create(&a, 0, give, 0);
    clock_gettime(CLOCK_MONOTONIC, &when);
    when.tv_sec += 1;
    pthread_mutex_lock(&m);
    while (!ready && r != ETIMEDOUT)
        r = pthread_cond_timedwait(&c, &m, &when);
    assert(ready || r == ETIMEDOUT);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
