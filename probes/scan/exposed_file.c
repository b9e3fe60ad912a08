//~ about: a pointer is written to a file, and read from there
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
static FILE *file;

static long *receive(void)
{
    long *p = 0;
    if (fread(&p, sizeof p, 1, file) != 1)
        return 0;
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
    file = tmpfile();
    if (!file)
        return 1;
    fwrite(&p, sizeof p, 1, file);
    rewind(file);
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&m);
    ++cell;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
