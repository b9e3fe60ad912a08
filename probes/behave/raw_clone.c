//~ about: makes a thread by the system call itself, which changes n too
//~ truth: crash
//~ want: no-claim
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
static atomic_int n, raw_done;
static int raw(void *arg) { raw_done = 1; syscall(SYS_exit, 0); return 0; }
static void *add(void *arg)
{
    int v = n;
    n = v + 1;
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    (void)argc, (void)argv;
    static char stack[65536]; clone(raw, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, 0); while (!raw_done) sched_yield();
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    
    if (n != 2)
        abort();
    return 0;
}
