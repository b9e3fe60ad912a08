//~ about: calls of the C library that could write memory another thread uses, and here do not
//~ revisions: message child locale socket zone
//~ truth: clean
#define _GNU_SOURCE
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
static char buffer[64];
static _Atomic int sink;
#if defined CHILD || defined SOCKET
static unsigned number = sizeof(struct sockaddr);
#endif
static void *one(void *arg)
{
#if defined MESSAGE
    /* Texts of errors that are known lie in the library. */
    if (strerror_r(2, buffer, sizeof buffer) == buffer)
        abort();
#elif defined CHILD
    if (waitpid(-1, (int *)&number, WNOHANG) != -1)
        abort();
#elif defined LOCALE
    sink = setlocale(LC_ALL, 0) != 0;
#elif defined SOCKET
    if (accept(-1, (struct sockaddr *)buffer, &number) != -1)
        abort();
#elif defined ZONE
    struct tm broken;
    time_t now = 0;
    sink = gmtime_r(&now, &broken) == 0;
#endif
    return arg;
}
static void *other(void *arg)
{
#if defined MESSAGE
    buffer[0] = 1;
#elif defined CHILD || defined SOCKET
    sink = (int)number;
#else
    one(arg);
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
