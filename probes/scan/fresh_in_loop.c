//~ about: memory that is fresh in the first round, and published at its end
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static _Atomic(int *) box;
static void *reader(void *arg)
{
    int *p = box;
    if (p) {
        volatile int v = *p;
        (void)v;
    }
    return arg;
}
int main(void)
{
    pthread_t a;
    int *p = malloc(sizeof *p);
    if (!p)
        return 1;
    pthread_create(&a, 0, reader, 0);
#ifdef BUG
    for (int i = 0; i < 2; i++) {
        *p = i;
        box = p;
    }
#else
    *p = 1;
    box = p;
#endif
    pthread_join(a, 0);
    return 0;
}
