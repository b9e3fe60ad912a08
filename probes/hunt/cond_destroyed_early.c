//~ about: a condition variable that is destroyed while a thread waits for it
//~ revisions: early joined
//~[early] truth: misuse deadlock lost-wakeup use-after-free race
//~[joined] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void *waits(void *arg)
{
    pthread_mutex_lock(&m);
    while (!ready)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, waits, 0);
    pthread_mutex_lock(&m);
    ready = 1;
#ifdef JOINED
    pthread_cond_broadcast(&c);
#endif
    pthread_mutex_unlock(&m);
#ifdef JOINED
    pthread_join(t, 0);
#endif
    pthread_cond_destroy(&c);
#ifdef EARLY
    pthread_join(t, 0);
#endif
    return 0;
}
