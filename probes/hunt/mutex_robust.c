//~ about: the owner of a robust mutex dies; the next one makes it consistent, or does not
//~ revisions: bug fixed
//~[bug] truth: assertion misuse
//~[fixed] truth: clean
#include <assert.h>
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t m;
static void *dies(void *arg)
{
    pthread_mutex_lock(&m);
    return arg;
}
static void *next(void *arg)
{
    int r = pthread_mutex_lock(&m);
    assert(r == 0 || r == EOWNERDEAD);
#ifdef FIXED
    if (r == EOWNERDEAD)
        pthread_mutex_consistent(&m);
#endif
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a, b, c;
    pthread_mutexattr_t t;
    pthread_mutexattr_init(&t);
    pthread_mutexattr_setrobust(&t, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &t);
    pthread_create(&a, 0, dies, 0);
    pthread_join(a, 0);
    pthread_create(&b, 0, next, 0);
    pthread_create(&c, 0, next, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
