//~ about: a condition wait with a limit of five seconds, taken for more than enough
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
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
    struct timespec t;
    int r = 0;
    pthread_create(&a, 0, give, 0);
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 5;
    pthread_mutex_lock(&m);
    while (!ready && r == 0)
        r = pthread_cond_timedwait(&c, &m, &t);
#ifdef BUG
    assert(ready);
#else
    assert(ready || r != 0);
#endif
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
