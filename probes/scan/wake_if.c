//~ about: the condition is checked once, before the wait
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
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
    pthread_create(&a, 0, give, 0);
    pthread_mutex_lock(&m);
#ifdef BUG
    if (!ready)
#else
    while (!ready)
#endif
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    data = 2;
    pthread_join(a, 0);
    return 0;
}
