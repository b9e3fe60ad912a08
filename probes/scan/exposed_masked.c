//~ about: an address is stored together with a flag and a key
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long cell;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static unsigned long word;

static long *receive(void)
{
    long *p = 0;
    p = (long *)((word ^ 0x5555) & ~1ul);
    return p;
}
static void *work(void *arg)
{
    pthread_barrier_wait(&ready);
    long *p = receive();
    if (!p)
        return arg;
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    ++*p;
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&ready, 0, 2);
    pthread_create(&t, 0, work, 0);
    long *p = &cell;
    word = ((unsigned long)p | 1) ^ 0x5555;
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&m);
    ++cell;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
