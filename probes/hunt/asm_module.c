//~ about: a function that is written in assembler beside the C code
//~ truth: assertion race
#include <assert.h>
#include <pthread.h>
int n;
int bump(void);
__asm__(".text\n.globl bump\nbump:\n\tmovl n(%rip), %eax\n\taddl $1, %eax\n\tmovl %eax, n(%rip)\n\tret\n");
static void *add(void *arg)
{
    bump();
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
