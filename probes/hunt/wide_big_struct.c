//~ about: a structure of 100 bytes, returned by value
//~ truth: race
//~ flags: -w
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
static _Alignas(64) char buf[128];
struct big { char c[100]; };
static struct big make(void) { struct big b; memset(&b, 1, sizeof b); return b; }
static void *one(void *arg)
{
    *(struct big *)buf = make();
    return arg;
}
static void *two(void *arg)
{
    buf[99] = 2;
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
