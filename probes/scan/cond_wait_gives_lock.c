//~ about: what the waiter touches under the lock is touched by the other one after it has given the lock back
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int turn, n;
static void *one(void *arg)
{
    pthread_mutex_lock(&m);
    turn = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
#ifdef BUG
    n = 1;
#endif
    return arg;
}
static void *two(void *arg)
{
    pthread_mutex_lock(&m);
    while (!turn)
        pthread_cond_wait(&c, &m);
    n = 2;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
