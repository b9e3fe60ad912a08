//~ about: correct, and asleep for an hour and a day
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
static atomic_int n;
static void *nap(void *arg)
{
    sleep(3600);
    n++;
    struct timespec t = {86400, 0};
    nanosleep(&t, 0);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, nap, 0);
    pthread_create(&b, 0, nap, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n != 2;
}
