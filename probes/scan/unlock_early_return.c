//~ about: one way out of the function gives the lock back before the last access
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n, limit = 1, over;
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    if (++n > limit) {
#ifdef BUG
        pthread_mutex_unlock(&m);
        over++;
        n--;
        return arg;
#else
        over++;
        n--;
        pthread_mutex_unlock(&m);
        return arg;
#endif
    }
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
