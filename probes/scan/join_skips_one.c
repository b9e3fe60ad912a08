//~ about: the loop that waits leaves one out
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int cell[3];
static void *work(void *arg)
{
    cell[(long)arg] = 1;
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++) {
#ifdef BUG
        if (i == argc)
            continue;
#endif
        pthread_join(t[i], 0);
    }
    for (int i = 0; i < 3; i++)
        cell[i] = 2;
    return 0;
}
