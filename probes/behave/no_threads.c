//~ about: makes no thread: there is nothing to explore, and still it ends well or badly
//~ revisions: well status abort signal
//~[well] truth: clean
//~[status] truth: exit-status
//~[abort] truth: crash
//~[signal] truth: crash
//~[status] must-not: proved exit-0
//~[abort] must-not: proved exit-0
//~[signal] must-not: proved exit-0
//~ may: refuse
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
int main(void)
{
#ifdef STATUS
    return 1;
#elif defined ABORT
    abort();
#elif defined SIGNAL
    raise(SIGTERM);
#endif
    return 0;
}
