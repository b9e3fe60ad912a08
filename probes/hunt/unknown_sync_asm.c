//~ about: correct: a lock in assembler protects a plain variable
//~ revisions: default bounded watchpoint free
//~[bounded] options: --analysis context-bound
//~[watchpoint] options: --analysis watchpoint --detector none
//~[free] options: --free-running
//~ truth: clean
//~ want: no-claim
#include <pthread.h>
#include <sched.h>
static int lk, n;
static void *add(void *arg)
{
    int v;
    do {
        v = 1;
        __asm__ volatile("xchgl %0, %1" : "+r"(v), "+m"(lk) : : "memory");
        if (v)
            sched_yield();
    } while (v);
    n++;
    __asm__ volatile("movl $0, %0" : "=m"(lk) : : "memory");
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n != 2;
}
