//~ about: a pointer that is read as a number of a union
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
static char text[32] = "key=value";
static void *one(void *arg)
{
    (void)text;
    union { int *p; uintptr_t u; } x; x.p = &n; int *q = (int *)x.u; *q = 1;
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
