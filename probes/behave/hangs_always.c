//~ about: a thread that never ends, without a system call
//~ revisions: loop pause read deadlock
//~ options: --runs 6 --timeout 1s
//~ truth: any
//~[deadlock] truth: deadlock
//~ must-not: proved exit-0
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
static void *hang(void *arg)
{
#ifdef LOOP
    for (volatile int i = 0;; i++)
        ;
#elif defined PAUSE
    for (;;)
        pause();
#elif defined READ
    int p[2];
    char c;
    pipe(p);
    read(p[0], &c, 1);
#else
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
#endif
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, hang, 0);
    pthread_join(a, 0);
    return 0;
}
