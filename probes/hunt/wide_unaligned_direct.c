//~ about: the same by a pointer to packed memory
//~ truth: race
//~ flags: -w
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
static _Alignas(64) char buf[128];
struct __attribute__((packed)) packed { int64_t v; };
static void *one(void *arg)
{
    ((struct packed *)(buf + 5))->v = 5;
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
