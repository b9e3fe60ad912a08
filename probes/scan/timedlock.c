//~ about: a lock with a limit of time, which may not have been had
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *arg)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 10;
    int r = pthread_mutex_timedlock(&m, &t);
#ifdef BUG
    n++;
    if (!r)
        pthread_mutex_unlock(&m);
#else
    if (!r) {
        n++;
        pthread_mutex_unlock(&m);
    }
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
