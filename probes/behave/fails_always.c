//~ about: fails in every schedule, each time in another way
//~ revisions: status negative assertion segv fpe overflow sigkill
//~[status] truth: exit-status
//~[negative] truth: exit-status
//~[assertion] truth: assertion
//~[segv] truth: crash
//~[fpe] truth: crash
//~[overflow] truth: crash
//~[sigkill] truth: crash
//~ must-not: proved exit-0
#include <assert.h>
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void *nothing(void *arg) { return arg; }
#ifdef OVERFLOW
static int deep(int k)
{
    volatile char fill[4096];
    fill[0] = (char)k;
    return deep(k + 1) + fill[0];
}
#endif
int main(void)
{
    pthread_t a;
    volatile int zero = 0;
    (void)zero;
    pthread_create(&a, 0, nothing, 0);
    pthread_join(a, 0);
#ifdef STATUS
    return 7;
#elif defined NEGATIVE
    return -1;
#elif defined ASSERTION
    assert(zero == 1);
#elif defined SEGV
    *(volatile int *)8 = 1;
#elif defined FPE
    return 1 / zero;
#elif defined OVERFLOW
    return deep(0);
#else
    raise(SIGKILL);
#endif
}
