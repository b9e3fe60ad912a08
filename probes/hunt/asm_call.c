//~ about: assembler that calls a function of the program, which is instrumented
//~ truth: race assertion
#include <assert.h>
#include <pthread.h>
int n;
void bump(void)
{
    n = n + 1;
}
static void *add(void *arg)
{
    __asm__ volatile("subq $256, %%rsp\n\tcall bump\n\taddq $256, %%rsp"
                     : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
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
