//~ about: the signal mask that a thread's attributes ask for
//~ revisions: unblocked blocked
//~[unblocked] truth: crash
//~[blocked] truth: clean
//~[unblocked] want: found
//~[blocked] want: proved
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static pthread_barrier_t barrier;
static void handle(int signal)
{
    (void)signal;
    abort();
}
static void *work(void *arg)
{
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t none, some;
    signal(SIGUSR1, handle);
    pthread_barrier_init(&barrier, NULL, 2);
    sigemptyset(&none);
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    pthread_attr_init(&attributes);
#ifdef UNBLOCKED
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    pthread_attr_setsigmask_np(&attributes, &none);
#else
    pthread_attr_setsigmask_np(&attributes, &some);
#endif
    pthread_create(&thread, &attributes, work, NULL);
    pthread_barrier_wait(&barrier);
    pthread_kill(thread, SIGUSR1);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    return 0;
}
