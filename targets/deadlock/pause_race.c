// A thread checks a flag and then pauses. The signal that sets the flag can come in between, and the pause never ends.
//
// preemptions: 1
//
// The twin is right because the signal is blocked until sigsuspend waits for it.

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
    pthread_create(&thread, NULL, tell, NULL);
    if (!told)
        pause(); //~ deadlock
    pthread_join(thread, NULL);
    return 0;
}
