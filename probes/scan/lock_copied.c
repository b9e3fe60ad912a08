//~ about: each thread locks a copy of the structure
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
struct box { pthread_mutex_t m; int *value; };
static int n;
static struct box box = {PTHREAD_MUTEX_INITIALIZER, &n};
static void *work(void *arg)
{
#ifdef BUG
    struct box copy = box, *b = &copy;
#else
    struct box *b = &box;
#endif
    pthread_mutex_lock(&b->m);
    ++*b->value;
    pthread_mutex_unlock(&b->m);
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
