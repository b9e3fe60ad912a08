//~ about: a masked load of AVX
//~ truth: race
//~ flags: -mavx2 -w
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
static _Alignas(64) char buf[128];

static void *one(void *arg)
{
    volatile __m256i v = _mm256_maskload_epi32((int *)buf, _mm256_set1_epi32(-1)); (void)v;
    return arg;
}
static void *two(void *arg)
{
    buf[20] = 2;
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
