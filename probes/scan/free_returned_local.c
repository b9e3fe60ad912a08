//~ about: a function returns while the thread that it started uses its local, by a function between
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
static pthread_t t;
static void *one(void *p)
{
    *(int *)p = 1;
    return 0;
}
static void launch(int *p) { pthread_create(&t, 0, one, p); }
static void finish(void) { pthread_join(t, 0); }
static int outer(void)
{
    int local = 0;
    launch(&local);
#ifdef FIXED
    finish();
#endif
    return 0;
}
int main(void)
{
    outer();
#ifdef BUG
    finish();
#endif
    return 0;
}
