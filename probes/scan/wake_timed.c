//~ about: the wait has an end, and then the data is used all the same
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, data;
static void *give(void *arg)
{
    data = 1;
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
    int r = 0, seen;
    pthread_create(&a, 0, give, 0);
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 3600;
    pthread_mutex_lock(&m);
    while (!ready && r == 0)
        r = pthread_cond_timedwait(&c, &m, &t);
    seen = ready;
    pthread_mutex_unlock(&m);
#ifdef BUG
    (void)seen;
    data = 2;
#else
    if (seen)
        data = 2;
#endif
    pthread_join(a, 0);
    return 0;
}
