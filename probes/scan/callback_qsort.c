//~ about: a comparison that counts how often it is called, and an array that another thread sorts
//~ revisions: bug array fixed
//~[bug] truth: race
//~[array] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int calls, shared[3] = {3, 1, 2};
static int compare(const void *one, const void *other)
{
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    calls++;
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    return *(const int *)one - *(const int *)other;
}
static void *sort(void *p)
{
#ifdef ARRAY
    qsort(shared, 3, sizeof *shared, compare);
#else
    int own[3] = {3, 1, 2};
    qsort(own, 3, sizeof *own, compare);
#endif
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, sort, 0);
    pthread_create(&b, 0, sort, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return shared[0] == 7;
}
