//~ about: two threads end the program at the same time, with functions of atexit or without
//~ revisions: exits returns quick nothing_registered one
//~ truth: assertion crash exit-status
//~[nothing_registered] truth: clean
//~[one] truth: clean
//~ want: no-claim
//~[nothing_registered] want: proved
//~[one] want: proved
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static atomic_int state;
static void second(void)
{
    state = 1;
    usleep(1000);
    state = 2;
}
static void first(void)
{
    assert(state == 2);
}
static void *work(void *arg)
{
#if defined ONE
    return arg;
#elif defined QUICK
    quick_exit(0);
#else
    exit(0);
#endif
}
int main(void)
{
    pthread_t thread;
#if !defined NOTHING_REGISTERED
    atexit(first);
    atexit(second);
#endif
#if defined QUICK
    at_quick_exit(first);
    at_quick_exit(second);
#endif
    pthread_create(&thread, NULL, work, NULL);
#if defined RETURNS
    return 0;
#elif defined QUICK
    quick_exit(0);
#else
    exit(0);
#endif
}
