//~ about: asprintf writes to the pointer that it is given
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
static char *shared;
static int n;
static char text[32] = "key=value";
static void *one(void *arg)
{
    (void)text;
    char *mine; if (asprintf(&shared, "%d", 5) < 0) mine = 0; (void)mine;
    return arg;
}
static void *two(void *arg)
{
    volatile char *v = shared; (void)v;
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
