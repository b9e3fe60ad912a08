//~ about: Peterson's lock with plain variables, or atomic ones
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#ifdef BUG
static volatile int want[2], turn;
#else
static atomic_int want[2], turn;
#endif
static int n;
static void *work(void *arg)
{
    long i = (long)arg;
    want[i] = 1;
    turn = (int)(1 - i);
    while (want[1 - i] && turn == 1 - i)
        ;
    n++;
    want[i] = 0;
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
