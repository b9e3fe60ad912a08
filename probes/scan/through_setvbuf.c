//~ about: the buffer of a stream is written when something is printed
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
    FILE *f = fopen("/dev/null", "w"); if (!f) return 0; setvbuf(f, text, _IOFBF, sizeof text); fputs("abc", f); fclose(f);
    return arg;
}
static void *two(void *arg)
{
    text[1] = 0;
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
