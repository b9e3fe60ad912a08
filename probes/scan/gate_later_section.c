//~ about: a thread that ended within a later section of the creator is not before the gate
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    n++;
    return arg;
}
static void *helper(void *arg)
{
    n++;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_mutex_lock(&m);
    pthread_create(&a, 0, work, 0);
#ifdef BUG
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
#endif
    pthread_create(&b, 0, helper, 0);
    pthread_join(b, 0);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
