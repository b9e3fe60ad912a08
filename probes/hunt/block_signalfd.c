//~ about: a signal that is read from a descriptor
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>
static void *send(void *arg)
{
    kill(getpid(), SIGUSR2);
    return arg;
}
int main(void)
{
    sigset_t s;
    struct signalfd_siginfo i;
    pthread_t a;
    sigemptyset(&s);
    sigaddset(&s, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &s, 0);
    int fd = signalfd(-1, &s, 0);
    pthread_create(&a, 0, send, 0);
    assert(read(fd, &i, sizeof i) == sizeof i && i.ssi_signo == SIGUSR2);
    pthread_join(a, 0);
    return 0;
}
