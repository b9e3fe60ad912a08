//~ about: a tree of the C library keeps the pointer
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
int cmp_ptr(const void *a, const void *b) { return a < b ? -1 : a > b; }
static int n;
static char text[32] = "key=value";
static void *one(void *arg)
{
    (void)text;
    static void *root; extern int cmp_ptr(const void *, const void *); tsearch(&n, &root, cmp_ptr); int **q = tfind(&n, &root, cmp_ptr); if (q) **q = 1;
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
