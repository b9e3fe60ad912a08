//~ about: realloc moves the block while another thread writes into it
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
static int *p;
static void *one(void *arg)
{
    p[0] = 1;
    return arg;
}
int main(void)
{
    pthread_t a;
    p = calloc(4, sizeof *p);
    if (!p)
        return 1;
    pthread_create(&a, 0, one, 0);
#ifdef FIXED
    pthread_join(a, 0);
#endif
    int *q = realloc(p, 4000);
#ifdef BUG
    pthread_join(a, 0);
#endif
    free(q);
    return 0;
}
