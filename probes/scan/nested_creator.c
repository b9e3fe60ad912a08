//~ about: a thread leaves its child behind, or waits for it
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static void *child(void *arg) { n++; return arg; }
static void *parent(void *arg)
{
    pthread_t t;
    pthread_create(&t, 0, child, 0);
#ifdef BUG
    pthread_detach(t);
#else
    pthread_join(t, 0);
#endif
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, parent, 0);
    pthread_join(a, 0);
    n++;
    return 0;
}
