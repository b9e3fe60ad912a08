// A signal ends a long sleep; the sleeper learns how much of it was left, and sleeps on.

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static void on_signal(int signal) { (void)signal; }

static void *sleep_long(void *result) {
    struct timespec left = {.tv_nsec = 20000000};
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    while (nanosleep(&left, &left) == -1 && errno == EINTR) {
    }
    clock_gettime(CLOCK_MONOTONIC, &after);
    *(int *)result = (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec >= 20000000;
    return NULL;
}

int main(void) {
    pthread_t thread;
    int slept = 0;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, sleep_long, &slept);
    pthread_kill(thread, SIGUSR1);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    assert(slept);
    return 0;
}
