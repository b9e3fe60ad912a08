//~ about: the comparison of qsort changes a variable
//~ truth: race
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/uio.h>
static int n;
int cmp_count(const void *a, const void *b) { n++; return *(const int *)a - *(const int *)b; }
static char text[32] = "key=value";
static void *one(void *arg)
{
    (void)text;
    int v[3] = {3, 2, 1}; qsort(v, 3, sizeof *v, cmp_count);
    return arg;
}
static void *two(void *arg)
{
    n = 2;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
