//~ about: correct: a blocked signal is sent after the data was written, and taken by sigwait before it is read
//~ revisions: default bounded watchpoint free
//~[bounded] options: --analysis context-bound
//~[watchpoint] options: --analysis watchpoint --detector none
//~[free] options: --free-running
//~ truth: clean
//~ want: no-claim
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static int data;
static void *give(void *arg)
{
    data = 5;
    kill(getpid(), SIGUSR1);
    return arg;
}
int main(void)
{
    pthread_t a;
    sigset_t s;
    int got;
    sigemptyset(&s);
    sigaddset(&s, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &s, 0);
    pthread_create(&a, 0, give, 0);
    sigwait(&s, &got);
    int seen = data;
    pthread_join(a, 0);
    return seen != 5;
}
