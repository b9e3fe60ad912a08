//~ about: correct, with 12 MB of output, also binary
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
    for (unsigned i = 0; i < sizeof line; i++)
        line[i] = (char)i;
    for (int i = 0; i < 96; i++)
        if (write(1, line, sizeof line) < 0)
            return 0;
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, say, 0);
    pthread_join(a, 0);
    pthread_create(&a, 0, say, 0);
    pthread_join(a, 0);
    return 0;
}
