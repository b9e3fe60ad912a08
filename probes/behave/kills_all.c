//~ about: kills every process that it may
//~ truth: crash
//~ must-not: proved exit-0
//~ isolate: pid
//~ may: refuse
//~ may: die
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
static atomic_int n;
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
    
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    kill(-1, SIGKILL);
    if (n != 2)
        abort();
    return 0;
}
