//~ about: poll_revents writes memory that another thread writes at the same time
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
static _Alignas(64) char buf[256] = "hello world";
static void *call(void *arg)
{
    struct pollfd *p = (struct pollfd *)buf; p->fd = -1; poll(p, 1, 0);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, call, 0);
    buf[6] = '1';
    pthread_join(a, 0);
    return 0;
}
