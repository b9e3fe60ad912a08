//~ about: numbers that are given to the threads of a loop come twice
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int cell[4];
static void *work(void *arg)
{
    cell[(long)arg]++;
    return 0;
}
int main(void)
{
    pthread_t t[4];
    for (long i = 0; i < 4; i++) {
#ifdef BUG
        pthread_create(&t[i], 0, work, (void *)(i / 2));
#else
        pthread_create(&t[i], 0, work, (void *)(3 - i));
#endif
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    return 0;
}
