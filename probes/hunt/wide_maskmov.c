//~ about: the masked store of SSE2
//~ truth: race
//~ flags: -msse2 -w
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
static _Alignas(64) char buf[128];

static void *one(void *arg)
{
    _mm_maskmoveu_si128(_mm_set1_epi8(1), _mm_set1_epi8(-1), buf + 3);
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
