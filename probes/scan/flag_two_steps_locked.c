//~ about: the same under a lock
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int flag, y;
static void raise_to(int v)
{
    pthread_mutex_lock(&m);
    flag = v;
    pthread_mutex_unlock(&m);
}
static void *give(void *arg)
{
    raise_to(1);
    y = 1;
    raise_to(2);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, give, 0);
    pthread_mutex_lock(&m);
#ifdef BUG
    int seen = flag != 0;
#else
    int seen = flag == 2;
#endif
    pthread_mutex_unlock(&m);
    if (seen)
        y = 2;
    pthread_join(a, 0);
    return 0;
}
