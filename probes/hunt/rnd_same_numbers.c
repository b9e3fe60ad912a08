//~ about: fails for half of all random numbers, in one order
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[fixed] truth: clean
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sys/random.h>
 
static atomic_int seen;
static void *first(void *arg)
{
    (void)arg;
    seen = 1;
    return 0;
}
static void *second(void *arg)
{
    (void)arg;
    unsigned number;
    getrandom(&number, sizeof number, 0);
    int early = seen;
    assert(early || number % 2 < 2);
#ifdef BUG
    assert(!early);
#endif
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
