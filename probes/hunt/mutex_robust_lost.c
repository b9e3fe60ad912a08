//~ about: the owner of a robust mutex dies, and the next one unlocks it without making it consistent
//~ revisions: lost ok
//~[lost] truth: assertion
//~[ok] truth: clean
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
    int error = pthread_mutex_lock(&m);
    assert(error == 0 || error == EOWNERDEAD);
#ifdef OK
    if (error == EOWNERDEAD)
        pthread_mutex_consistent(&m);
#endif
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_mutexattr_t how;
    pthread_t a, b, c;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &how);
    pthread_create(&a, 0, dies, 0);
    pthread_join(a, 0);
    pthread_create(&b, 0, next, 0);
    pthread_create(&c, 0, next, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
