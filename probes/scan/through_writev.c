//~ about: a pointer that goes through a pipe by writev
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
    int fd[2]; int *p = &n, *q = 0; struct iovec v = {&p, sizeof p}; if (pipe(fd)) return 0; writev(fd[1], &v, 1); if (read(fd[0], &q, sizeof q) == sizeof q) *q = 1;
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
