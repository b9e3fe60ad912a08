//~ about: abort with a handler that leaves with status 0
//~ truth: crash assertion exit-status
//~ preemptions: 1
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static atomic_int n;
static void *add(void *arg)
{
    int v = n;
    n = v + 1;
    return arg;
}
static void quiet(int s) { _exit(0); }
int main(void)
{
    pthread_t a, b;
    signal(SIGABRT, quiet);
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (n != 2) abort();
    return 0;
}
