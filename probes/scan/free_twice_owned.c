//~ about: each thread frees what it was given; one block was given to both
//~ revisions: bug fixed
//~[bug] truth: race use-after-free double-free
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
static void *one(void *p)
{
    ((int *)p)[0]++;
    free(p);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    int *p = calloc(1, sizeof *p), *q = calloc(1, sizeof *q);
    pthread_create(&a, 0, one, p);
#ifdef BUG
    pthread_create(&b, 0, one, p);
    free(q);
#else
    pthread_create(&b, 0, one, q);
#endif
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
