//~ about: empty assembler orders the compiler and no processor: no synchronisation
//~ truth: race assertion
#include <assert.h>
#include <pthread.h>
static int data, ready;
static void *give(void *arg)
{
    data = 1;
    __asm__ volatile("" : : : "memory");
    ready = 1;
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, give, 0);
    int r = ready;
    __asm__ volatile("" : : : "memory");
    int d = data;
    assert(!r || d);
    pthread_join(a, 0);
    return 0;
}
