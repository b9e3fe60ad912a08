//~ about: what the program sets up before its first thread holds afterwards, also what a forked copy of a process does not have
//~ revisions: wiped unforked death number
//~ truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile int work;
static void *run(void *arg)
{
    return arg;
}
int main(void)
{
    pthread_t thread;
    char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long id = 0;
    int signal = 0;
    page[0] = 7;
#ifdef WIPED
    madvise(page, 4096, MADV_WIPEONFORK);
#elif defined UNFORKED
    madvise(page, 4096, MADV_DONTFORK);
#elif defined DEATH
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#else
    id = syscall(SYS_getpid);
#endif
    for (int i = 0; i < 5000; i++)
        work++;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    assert(page[0] == 7);
    assert(id == 0 || id == getpid());
    prctl(PR_GET_PDEATHSIG, &signal);
#ifdef DEATH
    assert(signal == SIGTERM);
#endif
    return 0;
}
