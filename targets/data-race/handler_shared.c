// A signal handler writes a plain variable that another thread reads.
//
// preemptions: 0
//
// The twin is right because the variable is atomic.

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

int last;

static void on_signal(int signal) { last = signal; } //~ data-race

static void *watch(void *seen) {
    *(int *)seen = last; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t thread;
    int seen = 0;
    signal(SIGUSR1, on_signal);
    pthread_create(&thread, NULL, watch, &seen);
    raise(SIGUSR1);
    pthread_join(thread, NULL);
    return seen == 0 || seen == SIGUSR1 ? 0 : 1;
}
