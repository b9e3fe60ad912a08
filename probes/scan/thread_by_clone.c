//~ about: clone makes a thread
//~ truth: race
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
static int n;
static int work(void *arg)
{
    n = 1;
    return 0;
}
int main(void)
{
    char *stack = malloc(65536);
    int pid = clone(work, stack + 65536, CLONE_VM | SIGCHLD, 0);
    n = 2;
    waitpid(pid, 0, 0);
    return 0;
}
