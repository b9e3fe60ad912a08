//~ about: futex operations without a model: their result must not make the program fail, and proves nothing
//~ revisions: lock wake_op
//~ truth: clean
//~ must-not: proved
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word, other, number;
static void *work(void *arg)
{
#ifdef LOCK
    assert(syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, 0, 0, 0) == 0);
    number++;
    assert(syscall(SYS_futex, &word, FUTEX_UNLOCK_PI, 0, 0, 0, 0) == 0);
#else
    int operation = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 1);
    assert(syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1, &other, operation) >= 0);
    (void)number;
#endif
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
