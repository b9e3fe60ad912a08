//~ about: flockfile is a lock as well: of the stream that it is given
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdio.h>
static int n;
static void *one(void *arg)
{
    flockfile(stdout);
    n++;
    funlockfile(stdout);
    return arg;
}
static void *two(void *arg)
{
#ifdef BUG
    flockfile(stderr);
    n++;
    funlockfile(stderr);
#else
    flockfile(stdout);
    n++;
    funlockfile(stdout);
#endif
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
