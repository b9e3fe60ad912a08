//~ about: the state of the floating point unit, saved to memory
//~ truth: race
//~ flags: -mfxsr -w
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
static _Alignas(64) char buf[128];
static _Alignas(64) char save[512];
static void *one(void *arg)
{
    _fxsave(save);
    return arg;
}
static void *two(void *arg)
{
    save[100] = 2;
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
