//~ about: a lock with a time limit, whose result is ignored
//~ revisions: ignored looks
//~[ignored] truth: race misuse
//~[looks] truth: clean
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *arg)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3600;
    int error = pthread_mutex_timedlock(&m, &until);
#ifdef LOOKS
    if (error)
        return arg;
#endif
    n++;
    if (!error)
        pthread_mutex_unlock(&m);
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
