//~ about: a thread goes on using a block whose address it has sent through a pipe
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int ends[2];

static void *work(void *arg)
{
    long *p = 0;
    if (read(ends[0], &p, sizeof p) != sizeof p)
        return arg;
    if (p)
        ++*p;
    return arg;
}
int main(void)
{
    pthread_t t;
    if (pipe(ends))
        return 1;
    pthread_create(&t, 0, work, 0);
    long *p = malloc(sizeof *p);
    if (!p)
        return 1;
    *p = 1;
    write(ends[1], &p, sizeof p);
#ifdef BUG
    *p = 2;
#endif
    pthread_join(t, 0);
    return (int)*p;
}
