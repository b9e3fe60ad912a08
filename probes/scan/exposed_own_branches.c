//~ about: a thread goes on using a block whose address it has told bit by bit
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static atomic_int bit[64], done;

static void *work(void *arg)
{
    long *p = 0;
    while (!done)
        ;
    unsigned long n = 0;
    for (int i = 0; i < 64; i++)
        if (bit[i])
            n |= 1ul << i;
    p = (long *)n;
    if (p)
        ++*p;
    return arg;
}
int main(void)
{
    pthread_t t;

    pthread_create(&t, 0, work, 0);
    long *p = malloc(sizeof *p);
    if (!p)
        return 1;
    *p = 1;
    for (int i = 0; i < 64; i++)
        if ((unsigned long)p >> i & 1)
            bit[i] = 1;
    done = 1;
#ifdef BUG
    *p = 2;
#endif
    pthread_join(t, 0);
    return (int)*p;
}
