//~ about: the loop that waits ends one too early
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int cell[4];
static void *work(void *arg)
{
    cell[(long)arg] = 1;
    return 0;
}
int main(void)
{
    pthread_t t[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], 0, work, (void *)i);
#ifdef BUG
    for (int i = 0; i < 3; i++)
#else
    for (int i = 0; i < 4; i++)
#endif
        pthread_join(t[i], 0);
    int s = 0;
    for (int i = 0; i < 4; i++)
        s += cell[i];
    return s == 4 ? 0 : 1;
}
