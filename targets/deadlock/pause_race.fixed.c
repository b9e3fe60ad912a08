// Fixed twin of pause_race.c: the signal is blocked until sigsuspend waits for it.

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

volatile sig_atomic_t told;
static pthread_t waiter;

static void on_signal(int signal) {
    (void)signal;
    told = 1;
}

static void *tell(void *unused) {
    (void)unused;
    pthread_kill(waiter, SIGUSR1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    waiter = pthread_self();
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    pthread_create(&thread, NULL, tell, NULL);
    while (!told)
        sigsuspend(&before);
    pthread_join(thread, NULL);
    return 0;
}
