//~ about: a signal to the process goes to any of the threads that wait for it
//~ truth: assertion
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
static sigset_t set;
static atomic_int arrived, first;
static void *waiter(void *arg)
{
    int s, my = ++arrived, none = 0;
    sigwait(&set, &s);
    atomic_compare_exchange_strong(&first, &none, my);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, waiter, 0);
    kill(getpid(), SIGRTMIN);
    kill(getpid(), SIGRTMIN);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(first == 1);
    return 0;
}
