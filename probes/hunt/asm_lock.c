//~ about: an addition in one instruction, with and without the prefix that makes it atomic among processors
//~ revisions: bug fixed
//~[bug] truth: assertion race
//~[bug] want: no-claim
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
static int n;
static void *add(void *arg)
{
#ifdef BUG
    __asm__ volatile("incl %0" : "+m"(n) : : "cc");
#else
    __asm__ volatile("lock incl %0" : "+m"(n) : : "cc", "memory");
#endif
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
