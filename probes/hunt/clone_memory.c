//~ about: a process that shares the memory of the program runs beside its threads
//~ revisions: clone pty
//~[pty] flags: -lutil
//~ truth: race
//~ must-not: proved
//~ want: no-claim
//~ cross: no
#define _GNU_SOURCE
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static int *shared;
static int count(void *arg)
{
    (void)arg;
    ++*shared;
    return 0;
}
static void *count_here(void *arg)
{
    ++*shared;
    return arg;
}
int main(void)
{
    pthread_t thread;
    int child, terminal;
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
#ifdef CLONE
    char *stack = malloc(1 << 16);
    child = clone(count, stack + (1 << 16), CLONE_VM | SIGCHLD, 0);
#else
    child = forkpty(&terminal, 0, 0, 0);
    if (child == 0) {
        count(0);
        _exit(0);
    }
#endif
    pthread_create(&thread, 0, count_here, 0);
    pthread_join(thread, 0);
    waitpid(child, 0, 0);
    return 0;
}
