//~ about: the result of trylock taken the wrong way round
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *arg)
{
#ifdef BUG
    if (pthread_mutex_trylock(&m)) {
        n++;
    } else {
        n++;
        pthread_mutex_unlock(&m);
    }
#else
    if (!pthread_mutex_trylock(&m)) {
        n++;
        pthread_mutex_unlock(&m);
    }
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
