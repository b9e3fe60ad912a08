// Fixed twin of handler_shared.c: the variable is atomic.

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int last;

static void on_signal(int signal) { last = signal; }

static void *watch(void *seen) {
    *(int *)seen = last;
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
