//~ about: 200 threads at a time, and 5000, more than there can be
//~ revisions: some toomany
//~ options: --runs 20
//~[some] truth: clean
//~[toomany] truth: any
//~[toomany] may: refuse
//~[toomany] must-not: proved
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
#ifdef SOME
enum { COUNT = 200 };
#else
enum { COUNT = 5000 };
#endif
static pthread_t t[COUNT];
static atomic_int n;
static void *add(void *arg)
{
    n++;
    return arg;
}
int main(void)
{
    int made = 0;
    for (; made < COUNT; made++)
        if (pthread_create(&t[made], 0, add, 0))
            break;
    for (int i = 0; i < made; i++)
        pthread_join(t[i], 0);
    return n != made;
}
