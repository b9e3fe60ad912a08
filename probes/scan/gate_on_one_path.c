//~ about: the thread is also created without the lock
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *arg)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return arg;
}
static void *work(void *arg)
{
    n++;
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    pthread_create(&a, 0, other, 0);
#ifdef BUG
    if (argc > 1)
#endif
        pthread_mutex_lock(&m);
    pthread_create(&b, 0, work, 0);
    pthread_join(b, 0);
#ifdef BUG
    if (argc > 1)
#endif
        pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
