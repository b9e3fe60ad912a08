//~ about: one condition variable for two conditions; the flag is not the one that was waited for
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int red, blue, data;
static void *paint_red(void *arg)
{
    pthread_mutex_lock(&m);
    red = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    return arg;
}
static void *paint_blue(void *arg)
{
    data = 1;
    pthread_mutex_lock(&m);
    blue = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, paint_red, 0);
    pthread_create(&b, 0, paint_blue, 0);
    pthread_mutex_lock(&m);
#ifdef BUG
    while (!red && !blue)
#else
    while (!blue)
#endif
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    data = 2;
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
