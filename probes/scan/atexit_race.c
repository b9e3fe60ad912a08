//~ about: a function that runs at exit, beside a thread that is not joined
//~ truth: race
#include <pthread.h>
#include <stdlib.h>
static int n;
static void last(void) { n = 2; }
static void *work(void *arg)
{
    n = 1;
    return arg;
}
int main(void)
{
    pthread_t a;
    atexit(last);
    pthread_create(&a, 0, work, 0);
    return 0;
}
