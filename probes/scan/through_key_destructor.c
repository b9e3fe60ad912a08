//~ about: the destructor of a key runs when the thread ends
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
static void set_n(void *p) { *(int *)p = 1; }
static char text[32] = "key=value";
static void *one(void *arg)
{
    (void)text;
    static pthread_key_t k; pthread_key_create(&k, set_n); pthread_setspecific(k, &n);
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
