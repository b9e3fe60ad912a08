//~ about: what a function returns lies in the C library, where the next call by anybody replaces it; the lock is given back too early
//~ revisions: pwnam grgid service protocol ecvt l64a ether tmpnam ntoa
//~ truth: data-race assertion use-after-free
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile char seen;
#if defined PWNAM
static char *ask(void) { return (char *)getpwnam("root"); }
#elif defined GRGID
static char *ask(void) { return (char *)getgrgid(0); }
#elif defined SERVICE
static char *ask(void) { return (char *)getservbyname("http", "tcp"); }
#elif defined PROTOCOL
static char *ask(void) { return (char *)getprotobyname("tcp"); }
#elif defined ECVT
static char *ask(void) { int at, sign; return ecvt(1.5, 5, &at, &sign); }
#elif defined L64A
static char *ask(void) { return l64a(12345); }
#elif defined ETHER
static char *ask(void) { struct ether_addr a = {{1, 2, 3, 4, 5, 6}}; return ether_ntoa(&a); }
#elif defined TMPNAM
static char *ask(void) { return tmpnam(0); }
#endif
#ifdef NTOA
/* This buffer belongs to the thread, but the thread hands out a pointer to it. */
static char *_Atomic handed;
static void *work(void *p)
{
    struct in_addr one = {htonl(0x01020304)}, other = {htonl(0x05060708)};
    handed = inet_ntoa(one);
    inet_ntoa(other);
    return p;
}
#else
static void *work(void *p)
{
    pthread_mutex_lock(&lock);
    char *answer = ask();
    pthread_mutex_unlock(&lock);
    if (answer) seen = *answer;
    return p;
}
#endif
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
#ifdef NTOA
    if (handed) seen = *handed;
#endif
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
