//~ about: the lock is overwritten with zeros while it is in use
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <string.h>
static struct state { pthread_mutex_t m; int n; } s = {PTHREAD_MUTEX_INITIALIZER, 0};
static void *work(void *arg)
{
    pthread_mutex_lock(&s.m);
    s.n++;
    pthread_mutex_unlock(&s.m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
#ifdef FIXED
    memset(&s, 0, sizeof s);
#endif
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
#ifdef BUG
    memset(&s, 0, sizeof s);
#endif
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
