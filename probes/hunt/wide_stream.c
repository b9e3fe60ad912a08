//~ about: a store past the caches
//~ truth: race
//~ flags: -msse2 -w
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
static _Alignas(64) char buf[128];

static void *one(void *arg)
{
    _mm_stream_si128((__m128i *)buf, _mm_set1_epi8(1));
    return arg;
}
static void *two(void *arg)
{
    buf[10] = 2;
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
