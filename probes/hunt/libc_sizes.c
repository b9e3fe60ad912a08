//~ about: the last byte of what a function of the C library writes or reads
//~ revisions: pton ntop mincore lrand sigwait even
//~ truth: data-race
//~[even] truth: clean
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned char memory[128];
static _Alignas(4096) char pages[3 * 4096];
#if defined PTON || defined NTOP
enum { LAST = 15 };
#elif defined MINCORE
enum { LAST = 2 };
#elif defined LRAND
enum { LAST = 7 };
#elif defined SIGWAIT
enum { LAST = 24 };
#else
enum { LAST = 2 };
#endif
static void *work(void *p)
{
#if defined PTON
    inet_pton(AF_INET6, "::1", memory);
#elif defined NTOP
    char text[64];
    inet_ntop(AF_INET6, memory, text, sizeof text);
#elif defined MINCORE
    mincore(pages, sizeof pages, memory);
#elif defined LRAND
    struct drand48_data state = {0};
    lrand48_r(&state, (long *)memory);
#elif defined SIGWAIT
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwaitinfo(&set, (siginfo_t *)memory);
#else
    swab(pages, memory, 3);
#endif
    return p;
}
int main(void)
{
    pthread_t thread;
    pages[4096] = pages[8192] = 1;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&thread, 0, work, 0);
    pthread_kill(thread, SIGUSR1);
    memory[LAST] = 7;
    pthread_join(thread, 0);
    return 0;
}
