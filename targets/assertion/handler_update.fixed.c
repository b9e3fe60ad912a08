// Fixed twin of handler_update.c: the signal is blocked while the thread counts.

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

volatile sig_atomic_t count;
static pthread_t counter;

static void on_signal(int signal) {
    (void)signal;
    count = count + 1;
}

static void *interrupt(void *unused) {
    (void)unused;
    pthread_kill(counter, SIGUSR1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    counter = pthread_self();
    pthread_create(&thread, NULL, interrupt, NULL);
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    count = count + 1;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_join(thread, NULL);
    assert(count == 2);
    return 0;
}
