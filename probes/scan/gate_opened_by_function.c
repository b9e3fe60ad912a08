//~ about: a function that the creator calls releases the lock for a moment
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    n++;
    return arg;
}
static void breathe(pthread_mutex_t *lock, int how)
{
    if (how) {
        pthread_mutex_unlock(lock);
        pthread_mutex_lock(lock);
    }
}
int main(int argc, char **argv)
{
    pthread_t a;
#ifndef BUG
    argc = 0;
#endif
    pthread_mutex_lock(&m);
#ifndef BUG
    breathe(&m, argc);
#endif
    pthread_create(&a, 0, work, 0);
#ifdef BUG
    breathe(&m, argc);
#endif
    n++;
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
