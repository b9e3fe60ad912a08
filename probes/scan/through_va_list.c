//~ about: a pointer among variable arguments
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
void put(int k, ...)
{
    va_list l;
    va_start(l, k);
    (void)va_arg(l, int);
    int *p = va_arg(l, int *);
    va_end(l);
    *p = 1;
}
static char text[32] = "key=value";
static void *one(void *arg)
{
    (void)text;
    put(2, 0, &n);
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
