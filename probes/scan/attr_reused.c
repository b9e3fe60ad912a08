//~ about: the attribute says recursive for the first mutex, and checking for the second
//~ truth: race
#include <pthread.h>
static pthread_mutex_t r, m;
static int n;
static void *work(void *arg)
{
    pthread_mutex_lock(&r);
    pthread_mutex_lock(&r);
    pthread_mutex_unlock(&r);
    pthread_mutex_unlock(&r);
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);   // EDEADLK
    pthread_mutex_unlock(&m);
    n++;
    pthread_mutex_unlock(&m); // EPERM
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_mutexattr_t t;
    pthread_mutexattr_init(&t);
    pthread_mutexattr_settype(&t, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&r, &t);
    pthread_mutexattr_settype(&t, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &t);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
