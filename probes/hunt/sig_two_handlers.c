//~ about: one handler interrupts another one
//~ revisions: open masked
//~[open] truth: assertion
//~[masked] truth: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>
static volatile int n, ran;
static void handler(int signal)
{
    (void)signal;
    int before = n;
    n = before + 1;
    ran = ran + 1;
}
static void *sends(void *to)
{
    pthread_kill(*(pthread_t *)to, SIGUSR1);
    pthread_kill(*(pthread_t *)to, SIGUSR2);
    return 0;
}
int main(void)
{
    pthread_t self = pthread_self(), t;
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
#ifdef MASKED
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaddset(&action.sa_mask, SIGUSR2);
#endif
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGUSR2, &action, 0);
    pthread_create(&t, 0, sends, &self);
    pthread_join(t, 0);
    if (ran == 2)
        assert(n == 2);
    return 0;
}
