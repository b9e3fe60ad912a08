//~ about: a lost update leads to a crash, which a handler makes a status of
//~ truth: crash exit-status
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
static void handler(int s) { _exit(5); }
int main(void)
{
    pthread_t a, b;
    signal(SIGSEGV, handler);
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (n != 2) raise(SIGSEGV);
    return 0;
}
