// A signal to a thread that has not had its first turn yet is not lost: its handler runs before the thread does anything.

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t handled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int sent;

static void handle(int signal) {
    (void)signal;
    handled = 1;
}

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    while (!sent)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    assert(handled);
    return unused;
}

int main(void) {
    pthread_t worker;
    signal(SIGUSR1, handle);
    pthread_create(&worker, NULL, work, NULL);
    pthread_kill(worker, SIGUSR1);
    pthread_mutex_lock(&lock);
    sent = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    return 0;
}
