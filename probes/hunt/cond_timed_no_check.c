//~ about: a wait with a limit whose result is ignored
//~ revisions: blind looks
//~[blind] truth: assertion
//~[looks] truth: clean
#include <assert.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void *sets(void *arg)
{
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    struct timespec until;
    pthread_t a;
    pthread_create(&a, 0, sets, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1000;
    pthread_mutex_lock(&m);
#ifdef BLIND
    if (!ready)
        pthread_cond_timedwait(&c, &m, &until);
    assert(ready);
#else
    int error = 0;
    while (!ready && !error)
        error = pthread_cond_timedwait(&c, &m, &until);
    assert(ready || error);
#endif
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
