//~ about: the C library calls a comparison of ours, which counts
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifdef BUG
static int calls;
#else
static atomic_int calls;
#endif
static int cmp(const void *a, const void *b)
{
    calls++;
    return *(const int *)a - *(const int *)b;
}
static void *sort(void *arg)
{
    int v[3] = {3, 1, 2};
    qsort(v, 3, sizeof *v, cmp);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, sort, 0);
    pthread_create(&b, 0, sort, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
