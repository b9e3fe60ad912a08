//~ about: a store of 32 bytes
//~ truth: race
//~ flags: -mavx2 -w
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
static _Alignas(64) char buf[128];

static void *one(void *arg)
{
    _mm256_storeu_si256((__m256i *)(buf + 3), _mm256_set1_epi8(1));
    return arg;
}
static void *two(void *arg)
{
    buf[34] = 2;
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
