//~ about: variables that a library reads or writes too, and constants that assembler joins with variables
//~ revisions: stream environment joined
//~ truth: data-race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#ifdef JOINED
int counter;
extern const int shown __asm__("shown");
__asm__(".globl shown\n.set shown, counter");
#endif
static volatile long seen;
static void *work(void *p)
{
#if defined STREAM
    stdout = stderr;
#elif defined ENVIRONMENT
    environ = 0;
#else
    counter = 1;
#endif
    return p;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
#if defined STREAM
    printf("hello\n");
#elif defined ENVIRONMENT
    seen = (long)environ;
#else
    seen = shown;
#endif
    pthread_join(thread, 0);
    return 0;
}
