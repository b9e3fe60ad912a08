//~ about: qsort_cmp writes memory that another thread writes at the same time
//~ truth: race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <poll.h>
#include <time.h>
#include <math.h>
#include <iconv.h>
int cmp_bytes(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
static _Alignas(64) char buf[256] = "hello world";
static void *call(void *arg)
{
    extern int cmp_bytes(const void *, const void *); qsort(buf, 8, 1, cmp_bytes);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, call, 0);
    buf[3] = '1';
    pthread_join(a, 0);
    return 0;
}
