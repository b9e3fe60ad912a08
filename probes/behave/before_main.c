//~ about: everything happens in a constructor, which may end the program or fail
//~ revisions: exits fails races
//~[exits] truth: any
//~[exits] must-not: proved
//~[fails] truth: any
//~[fails] must-not: proved exit-0
//~[races] truth: race
//~[exits] may: refuse
//~[fails] may: refuse
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
static int n;
static void *add(void *arg)
{
    n++;
    return arg;
}
__attribute__((constructor)) static void begin(void)
{
#ifdef EXITS
    exit(0);
#elif defined FAILS
    abort();
#else
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
#endif
}
int main(void)
{
    return 0;
}
