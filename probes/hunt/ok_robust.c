//~ about: the owner of a robust mutex ends with it, and the next one repairs
//~ truth: clean
#include <assert.h>
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t m;
static int x, y;
static void *dies(void *arg)
{
    pthread_mutex_lock(&m);
    x++;
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_mutexattr_t t;
    pthread_mutexattr_init(&t);
    pthread_mutexattr_setrobust(&t, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &t);
    pthread_create(&a, 0, dies, 0);
    int r = pthread_mutex_lock(&m);
    if (r == EOWNERDEAD) {
        y = x;
        pthread_mutex_consistent(&m);
    }
    assert(x == y);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
