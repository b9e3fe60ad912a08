// A signal handler posts a semaphore, which is one of the few things that it may do; a thread waits for it.

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>

static sem_t came;
int value;

static void on_signal(int signal) {
    (void)signal;
    sem_post(&came);
}

static void *wait_for_it(void *result) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    while (sem_wait(&came) != 0) {
    }
    *(int *)result = value;
    return NULL;
}

int main(void) {
    pthread_t thread;
    int result = 0;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sem_init(&came, 0, 0);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, wait_for_it, &result);
    value = 7;
    raise(SIGUSR1);
    pthread_join(thread, NULL);
    assert(result == 7);
    return 0;
}
