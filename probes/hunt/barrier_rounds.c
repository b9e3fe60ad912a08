//~ about: a barrier used three times; or one that is for fewer threads than there are
//~ revisions: bug fixed
//~ command: hunt scan
//~[bug] truth: race assertion deadlock
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
static pthread_barrier_t bar;
static int cell[3], next[3];
static void *work(void *arg)
{
    long i = (long)arg;
    cell[i] = 1;
    pthread_barrier_wait(&bar);
    next[i] = cell[(i + 1) % 3];
    pthread_barrier_wait(&bar);
    cell[i] = next[i] + 1;
    pthread_barrier_wait(&bar);
    assert(cell[(i + 2) % 3] == 2);
    return 0;
}
int main(void)
{
    pthread_t t[3];
#ifdef BUG
    pthread_barrier_init(&bar, 0, 2);
#else
    pthread_barrier_init(&bar, 0, 3);
#endif
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
