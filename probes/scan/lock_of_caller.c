//~ about: a function takes the lock that its caller has on the stack
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER;
static void add(pthread_mutex_t *m, int depth)
{
    if (depth > 0) {
        add(m, depth - 1);
        return;
    }
    pthread_mutex_lock(m);
    n++;
    pthread_mutex_unlock(m);
}
static void *work(void *arg)
{
#ifdef BUG
    pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
    add(&mine, 3);
#else
    add(&global, 3);
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
