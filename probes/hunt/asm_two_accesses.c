//~ about: one piece of assembler that reads memory, and then writes it
//~ revisions: bug one
//~[bug] truth: assertion data-race
//~[one] truth: clean
#include <assert.h>
#include <pthread.h>
static int number;
static void *work(void *p)
{
#ifdef BUG
    __asm__ volatile("movl %0, %%eax\n\tincl %%eax\n\tmovl %%eax, %0" : "+m"(number) : : "eax");
#else
    __asm__ volatile("lock; incl %0" : "+m"(number));
#endif
    return p;
}
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(number == 2);
    return 0;
}
