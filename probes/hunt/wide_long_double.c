//~ about: a long double
//~ truth: race
//~ flags: -w
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
static _Alignas(64) char buf[128];

static void *one(void *arg)
{
    *(long double *)buf = 5.0L;
    return arg;
}
static void *two(void *arg)
{
    buf[9] = 2;
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
