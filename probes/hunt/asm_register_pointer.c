//~ about: assembler that gets an address in a register and says "memory"
//~ truth: assertion race
//~ preemptions: 1
#include <assert.h>
#include <pthread.h>
static long n;
static long get(long *p)
{
    long v;
    __asm__ volatile("movq (%1), %0" : "=r"(v) : "r"(p) : "memory");
    return v;
}
static void put(long *p, long v)
{
    __asm__ volatile("movq %1, (%0)" : : "r"(p), "r"(v) : "memory");
}
static void *add(void *arg)
{
    put(&n, get(&n) + 1);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
