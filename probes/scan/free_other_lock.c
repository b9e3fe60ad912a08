//~ about: freed under one lock, used under another
//~ revisions: bug fixed
//~[bug] truth: race use-after-free
//~[fixed] truth: clean
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
static pthread_mutex_t x = PTHREAD_MUTEX_INITIALIZER, y = PTHREAD_MUTEX_INITIALIZER;
static int *p;
static void *one(void *arg)
{
    pthread_mutex_lock(&x);
    if (p)
        p[0]++;
    pthread_mutex_unlock(&x);
    return arg;
}
static void *two(void *arg)
{
#ifdef BUG
    pthread_mutex_lock(&y);
    free(p);
    pthread_mutex_unlock(&y);
#else
    pthread_mutex_lock(&x);
    free(p);
    p = 0;
    pthread_mutex_unlock(&x);
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    p = calloc(4, sizeof *p);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
