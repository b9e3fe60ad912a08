//~ about: a thread goes on using a block whose address it has stored as a number
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static atomic_ulong number;

static void *work(void *arg)
{
    long *p = 0;
    unsigned long found;
    while (!(found = number))
        ;
    p = (long *)(found ^ 1);
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
    number = (unsigned long)p ^ 1;
#ifdef BUG
    *p = 2;
#endif
    pthread_join(t, 0);
    return (int)*p;
}
