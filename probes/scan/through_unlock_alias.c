//~ about: the lock is given back through a pointer that was copied as bytes
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/uio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *arg)
{
    pthread_mutex_t *p = &m, *q;
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&m);
    memcpy(&q, &p, sizeof q);
#ifdef BUG
    pthread_mutex_unlock(q);
    pthread_mutex_unlock(&other);
    n++;
#else
    n++;
    pthread_mutex_unlock(q);
    pthread_mutex_unlock(&other);
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
