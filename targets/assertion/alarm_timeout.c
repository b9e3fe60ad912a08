// An operation has a time limit by alarm. The alarm can go off after the operation is done and before it is taken back;
// who believes the handler's flag throws away what was done.
//
// preemptions: 1
//
// The twin is right because the result of the operation decides.

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static sem_t ready;
volatile sig_atomic_t late;

static void on_alarm(int signal) {
    (void)signal;
    late = 1;
}

static void *answer(void *unused) {
    sigset_t set;
    (void)unused;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sem_post(&ready);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct sigaction action = {.sa_handler = on_alarm};
    int error;
    sem_init(&ready, 0, 0);
    sigaction(SIGALRM, &action, NULL);
    pthread_create(&thread, NULL, answer, NULL);
    alarm(1);
    error = sem_wait(&ready);
    alarm(0);
    int gave_up = late;
    assert(gave_up == (error != 0)); //~ assertion
    pthread_join(thread, NULL);
    return 0;
}
