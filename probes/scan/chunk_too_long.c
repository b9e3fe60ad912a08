//~ about: a chunk of four numbers is taken, and five are used
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static atomic_int next;
static int cell[64];
static void *work(void *arg)
{
    int from = atomic_fetch_add(&next, 4);
#ifdef BUG
    for (int i = from; i <= from + 4 && i < 64; i++)
#else
    for (int i = from; i < from + 4 && i < 64; i++)
#endif
        cell[i]++;
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
