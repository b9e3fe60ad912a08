//~ about: pthread_tryjoin_np whose result is ignored
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <pthread.h>
static int x;
static void *work(void *arg) { x = 1; return arg; }
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
#ifdef BUG
    pthread_tryjoin_np(a, 0);
    x = 2;
#else
    if (pthread_tryjoin_np(a, 0) == 0)
        x = 2;
#endif
    return 0;
}
