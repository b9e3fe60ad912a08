//~ about: a lost update, said by the program that it becomes
//~ truth: exit-status
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

int main(void)
{
    pthread_t a, b;
    
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (n != 2) execl("/bin/false", "false", (char *)0);
    return 0;
}
