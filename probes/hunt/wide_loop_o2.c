//~ about: a loop that the optimiser makes one call or wide stores of
//~ truth: race
//~ flags: -O3 -mavx2 -w
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
_Alignas(64) char buf[128];
__attribute__((noinline)) static void fill(char *p, int n) { for (int i = 0; i < n; i++) p[i] = 7; }
static void *one(void *arg)
{
    fill(buf, 100);
    return arg;
}
static void *two(void *arg)
{
    buf[64] = 2;
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
