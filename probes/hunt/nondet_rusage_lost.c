//~ about: a lost update, after as many steps as processor time says
//~ truth: assertion
//~ preemptions: 1
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static atomic_int n, noise;
static unsigned chance(void)
{
    struct rusage r; getrusage(RUSAGE_SELF, &r); return (unsigned)(r.ru_utime.tv_usec + r.ru_stime.tv_usec + r.ru_minflt);
}
static void *add(void *arg)
{
    for (unsigned i = chance() % 5; i > 0; i--)
        noise++;
    int v = n;
    n = v + 1;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
