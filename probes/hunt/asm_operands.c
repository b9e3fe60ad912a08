//~ about: accesses of inline assembler by its operands: plain ones race, those with a lock do not
//~ revisions: change change_ok exchange_ok xadd_ok compare_ok pair pair_ok pointer spin_ok
//~[change] truth: race assertion
//~[change] want: found
//~[change_ok] truth: clean
//~[exchange_ok] truth: clean
//~[xadd_ok] truth: clean
//~[compare_ok] truth: clean
//~[pair] truth: assertion
//~[pair] want: found
//~[pair_ok] truth: clean
//~[pointer] truth: assertion race
//~[pointer] want: found
//~[spin_ok] truth: clean
#include <assert.h>
#include <pthread.h>
static int n;
#if defined PAIR_OK || defined SPIN_OK
static int taken;
#endif
static void *add(void *arg)
{
#if defined CHANGE
    __asm__ volatile("addl $1, %0" : "+m"(n) : : "cc");
#elif defined CHANGE_OK
    __asm__ volatile("lock; addl $1, %0" : "+m"(n) : : "cc", "memory");
#elif defined EXCHANGE_OK
    int mine = 1;
    __asm__ volatile("xchgl %0, %1" : "+r"(mine), "+m"(n) : : "memory");
#elif defined XADD_OK
    int mine = 1;
    __asm__ volatile("lock xaddl %0, %1" : "+r"(mine), "+m"(n) : : "memory", "cc");
#elif defined COMPARE_OK
    for (;;) {
        int seen, was;
        __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(n) : "memory");
        __asm__ volatile("lock cmpxchgl %2, %1" : "=a"(was), "+m"(n) : "r"(seen + 1), "0"(seen) : "memory", "cc");
        if (was == seen)
            break;
    }
#elif defined POINTER
    int v;
    __asm__ volatile("movl (%1), %0" : "=r"(v) : "r"(&n) : "memory");
    v++;
    __asm__ volatile("movl %1, (%0)" : : "r"(&n), "r"(v) : "memory");
#else
    int v;
#if defined PAIR_OK || defined SPIN_OK
    int mine;
    do {
        mine = 1;
        __asm__ volatile("xchgl %0, %1" : "+r"(mine), "+m"(taken) : : "memory");
    } while (mine);
#endif
#ifdef SPIN_OK
    v = n + 1;
    n = v;
#else
    __asm__ volatile("movl %1, %0" : "=r"(v) : "m"(n));
    v++;
    __asm__ volatile("movl %1, %0" : "=m"(n) : "r"(v));
#endif
#if defined PAIR_OK || defined SPIN_OK
    __asm__ volatile("movl $0, %0" : "=m"(taken) : : "memory");
#endif
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
#ifdef EXCHANGE_OK
    assert(n == 1);
#else
    assert(n == 2);
#endif
    return 0;
}
