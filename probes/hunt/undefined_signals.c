//~ about: handlers of signals in a program with another sanitizer, whose runtime has functions of the same names
//~ flags: -fsanitize=undefined
//~ revisions: fixed ignored bug restarts
//~ truth: clean
//~[bug] truth: assertion
//~[restarts] truth: assertion
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
static atomic_int got;
static pthread_t first;
static void handles(int unused)
{
    (void)unused;
    got = 1;
}
static void *sends(void *unused)
{
    pthread_kill(first, SIGUSR1);
    return unused;
}
int main(void)
{
    first = pthread_self();
#if defined IGNORED
    signal(SIGUSR1, SIG_IGN);
#elif defined RESTARTS
    signal(SIGUSR1, handles);
#else
    struct sigaction action = {.sa_handler = handles};
    sigaction(SIGUSR1, &action, 0);
#endif
    pthread_t thread;
    pthread_create(&thread, 0, sends, 0);
    pthread_join(thread, 0);
#if defined FIXED
    assert(got);
#else
    assert(!got);
#endif
    return 0;
}
