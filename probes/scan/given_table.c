//~ about: numbers from a table, one of which is there twice
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#ifdef BUG
static const int id[3] = {0, 1, 1};
#else
static const int id[3] = {0, 1, 2};
#endif
static int cell[3];
static void *work(void *arg)
{
    cell[*(const int *)arg]++;
    return 0;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, (void *)&id[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
