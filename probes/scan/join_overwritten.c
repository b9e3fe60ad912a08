//~ about: the handle of the first thread is overwritten by that of the second, and only one of them is waited for
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static void *work(void *arg) { n++; return arg; }
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, work, 0);
#ifdef BUG
    pthread_create(&t, 0, work, 0);
    (void)u;
#else
    pthread_join(t, 0);
    pthread_create(&u, 0, work, 0);
    t = u;
#endif
    pthread_join(t, 0);
    n++;
    return 0;
}
