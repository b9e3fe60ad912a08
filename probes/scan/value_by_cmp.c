//~ about: a variable that the comparison of qsort sets
//~ truth: race
#include <pthread.h>
#include <stdlib.h>
static int n, unordered;
static int cmp(const void *a, const void *b)
{
    unordered = 1;
    return *(const char *)a - *(const char *)b;
}
static void *work(void *arg) { n++; return arg; }
int main(int argc, char **argv)
{
    char v[3] = {3, 1, 2};
    qsort(v, (size_t)(argc > 1 ? 3 : 1), 1, cmp);
    if (unordered) {
        pthread_t a, b;
        pthread_create(&a, 0, work, 0);
        pthread_create(&b, 0, work, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
    }
    return 0;
}
