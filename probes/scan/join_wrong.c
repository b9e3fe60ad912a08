//~ about: the wrong one of two threads is waited for
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int x;
static void *one(void *arg) { x = 1; return arg; }
static void *two(void *arg) { return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
#ifdef BUG
    pthread_join(b, 0);
    x = 2;
    pthread_join(a, 0);
#else
    pthread_join(a, 0);
    x = 2;
    pthread_join(b, 0);
#endif
    return 0;
}
