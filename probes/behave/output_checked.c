//~ about: correct: every write is checked, and the program ends with 1 if one fails; 12 MB in all
//~ options: --runs 30
//~ truth: clean
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
static void *say(void *arg)
{
    static char line[1 << 16];
    for (int i = 0; i < 192; i++)
        if (write(1, line, sizeof line) != sizeof line)
            exit(1);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, say, 0);
    pthread_join(a, 0);
    return 0;
}
