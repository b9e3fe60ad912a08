//~ about: getsockopt writes memory that another thread writes at the same time
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
    int s[2]; socklen_t n = 4; socketpair(AF_UNIX, SOCK_STREAM, 0, s); getsockopt(s[0], SOL_SOCKET, SO_TYPE, buf, &n); close(s[0]); close(s[1]);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, call, 0);
    buf[0] = '1';
    pthread_join(a, 0);
    return 0;
}
