//~ about: an address is printed by a function with variable arguments, and read as a number
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
#include <stdarg.h>
static char text[80];
static void note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
}

static long *receive(void)
{
    long *p = 0;
    p = (long *)strtoul(text, 0, 16);
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
    note("%s%p", "", (void *)p);
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&m);
    ++cell;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
