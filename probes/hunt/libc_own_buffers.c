//~ about: the same calls, each thread with memory of its own, or behind a lock
//~ truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static char all[2][64], last[64];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
    char *own = all[(long)arg], *end, *save, line[] = "a b c";
    int n = 0;
    assert(strtol("12x", &end, 10) == 12 && *end == 'x');
    for (char *t = strtok_r(line, " ", &save); t; t = strtok_r(0, " ", &save))
        n++;
    assert(n == 3);
    sprintf(own, "%ld %d", (long)arg, n);
    assert(sscanf(own, "%*d %d", &n) == 1 && n == 3);
    pthread_mutex_lock(&m);
    stpcpy(last, own);
    swab("abcd", last + 32, 4);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(strlen(last) == 3);
    return 0;
}
