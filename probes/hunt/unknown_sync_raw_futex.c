//~ about: correct: a mutex of atomics whose futex calls are made by the syscall instruction
//~ revisions: default bounded watchpoint free
//~[bounded] options: --analysis context-bound
//~[watchpoint] options: --analysis watchpoint --detector none
//~[free] options: --free-running
//~ truth: clean
//~ want: no-claim
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
static atomic_int word;
static int n;
static long futex(atomic_int *p, long op, long v)
{
    long r;
    register long r10 __asm__("r10") = 0;
    __asm__ volatile("syscall" : "=a"(r) : "a"((long)SYS_futex), "D"(p), "S"(op), "d"(v), "r"(r10) : "rcx", "r11", "memory");
    return r;
}
static void *add(void *arg)
{
    while (atomic_exchange(&word, 1))
        futex(&word, FUTEX_WAIT_PRIVATE, 1);
    n++;
    word = 0;
    futex(&word, FUTEX_WAKE_PRIVATE, 1);
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
