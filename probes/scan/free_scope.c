//~ about: the block of an array ends, and the next block uses its memory, while a thread still has it
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
static void *one(void *p)
{
    ((int *)p)[0] = 1;
    return 0;
}
int main(void)
{
    pthread_t a;
    {
        int first[16] = {0};
        pthread_create(&a, 0, one, first);
#ifdef FIXED
        pthread_join(a, 0);
#endif
    }
    {
        int second[16];
        for (int i = 0; i < 16; i++)
            ((volatile int *)second)[i] = i;
    }
#ifdef BUG
    pthread_join(a, 0);
#endif
    return 0;
}
