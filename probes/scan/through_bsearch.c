//~ about: what bsearch returns leads into the array
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
int cmp_char(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
static int n;
static char text[32] = "key=value";
static void *one(void *arg)
{
    (void)text;
    extern int cmp_char(const void *, const void *); char k = 107; char *p = bsearch(&k, text, 1, 1, cmp_char); if (p) *p = 75;
    return arg;
}
static void *two(void *arg)
{
    text[0] = 81;
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
