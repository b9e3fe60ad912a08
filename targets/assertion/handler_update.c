// A signal handler counts in the same variable as the thread that it interrupts. Between the thread's read and its
// write, the handler's count is lost.
//
// preemptions: 1
//
// The twin is right because the thread blocks the signal while it counts.

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
    count = count + 1;
    pthread_join(thread, NULL);
    assert(count == 2); //~ assertion
    return 0;
}
