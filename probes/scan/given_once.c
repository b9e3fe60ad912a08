//~ about: every thread of the loop gets the memory that was allocated the first time
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdlib.h>
static void *work(void *arg)
{
    ++*(int *)arg;
    return 0;
}
int main(void)
{
    pthread_t t[2];
    int *p = 0;
    for (int i = 0; i < 2; i++) {
#ifdef BUG
        if (!p)
#endif
            p = calloc(1, sizeof *p);
        if (!p)
            abort();
        pthread_create(&t[i], 0, work, p);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
