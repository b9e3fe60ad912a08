//~ about: two threads if an unset field is zero
//~ truth: race
#include <pthread.h>
#include <stdlib.h>
struct options { int verbose, serial; };
static int n;
static void *work(void *arg)
{
    n++;
    return arg;
}
int main(void)
{
    struct options *o = malloc(sizeof *o);
    if (!o)
        return 1;
    o->verbose = 1;
    if (o->serial)
        return 0;
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(o);
    return 0;
}
