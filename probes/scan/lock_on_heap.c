//~ about: the lock is allocated by each thread, or once
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdlib.h>
struct guard { pthread_mutex_t m; int n; };
static struct guard *make(void)
{
    struct guard *g = malloc(sizeof *g);
    pthread_mutex_init(&g->m, 0);
    return g;
}
static struct guard *shared;
static int n;
static void *work(void *arg)
{
#ifdef BUG
    struct guard *g = make();
#else
    struct guard *g = shared;
#endif
    pthread_mutex_lock(&g->m);
    n++;
    pthread_mutex_unlock(&g->m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    shared = make();
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
