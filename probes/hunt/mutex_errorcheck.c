//~ about: a mutex that checks refuses the second lock; who does not look gives it back too early
//~ truth: race misuse
//~ command: hunt scan
#include <pthread.h>
static pthread_mutex_t m;
static int n;
static void *add(void *arg)
{
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
    pthread_mutexattr_t r;
    pthread_mutexattr_init(&r);
    pthread_mutexattr_settype(&r, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &r);
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
