//~ about: a recursive mutex that is given back once too often, or as often as it was taken
//~ revisions: bug fixed
//~ command: hunt scan
//~[bug] truth: race assertion misuse
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m;
static int n;
static void inner(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
#ifdef BUG
    pthread_mutex_unlock(&m);
#endif
}
static void *add(void *arg)
{
    pthread_mutex_lock(&m);
    inner();
    n++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_mutexattr_t r;
    pthread_mutexattr_init(&r);
    pthread_mutexattr_settype(&r, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &r);
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
