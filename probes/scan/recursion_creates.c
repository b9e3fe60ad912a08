//~ about: a recursive function creates a thread on every level
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static void *work(void *arg)
{
    n++;
    return arg;
}
static void level(int depth)
{
    pthread_t t;
    if (depth == 0)
        return;
    pthread_create(&t, 0, work, 0);
#ifdef FIXED
    pthread_join(t, 0);
#endif
    level(depth - 1);
#ifdef BUG
    pthread_join(t, 0);
#endif
}
int main(void)
{
    level(3);
    return 0;
}
