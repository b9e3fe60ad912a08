//~ about: a megabyte of thread-local memory, aligned
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
static __thread _Alignas(4096) char big[1 << 20];
static __thread int begin = 7;
static void *work(void *arg)
{
    assert(((uintptr_t)big & 4095) == 0 && begin == 7);
    begin = 1;
    for (unsigned i = 0; i < sizeof big; i += 4096)
        big[i]++;
    for (unsigned i = 0; i < sizeof big; i += 4096)
        assert(big[i] == 1);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    work(0);
    return 0;
}
