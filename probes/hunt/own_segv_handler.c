//~ about: a page that is made writable by the handler of the fault, as garbage collectors do
//~ truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
static char *page;
static void handler(int s, siginfo_t *i, void *c)
{
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
static void *work(void *arg)
{
    page[10] = 5;
    return arg;
}
int main(void)
{
    struct sigaction a;
    pthread_t t;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = handler;
    a.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &a, 0);
    page = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    assert(page[10] == 5);
    return 0;
}
