//~ about: a lock in assembler, correct or released too early
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static int lk;
static atomic_int n;
static int try(void)
{
    int v = 1;
    __asm__ volatile("xchgl %0, %1" : "+r"(v), "+m"(lk) : : "memory");
    return v == 0;
}
static void *add(void *arg)
{
    while (!try())
        sched_yield();
    int v = n;
#ifdef BUG
    __asm__ volatile("movl $0, %0" : "=m"(lk) : : "memory");
    n = v + 1;
#else
    n = v + 1;
    __asm__ volatile("movl $0, %0" : "=m"(lk) : : "memory");
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
