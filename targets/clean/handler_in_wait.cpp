// Handlers interrupt threads that wait, and take several steps meanwhile. Whatever wakes a waiter during its handler is
// not lost, and what was released to it is known after the wait.

#include <assert.h>
#include <atomic>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static sem_t count;
static std::atomic<int> handled, gate;
static int ready, before_barrier, before_post, before_gate;

static void on_signal(int) {
    handled++;
    handled++;
}

static void *wait_for_all(void *) {
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&both);
    assert(before_barrier == 1);
    while (sem_wait(&count) != 0) {
    }
    assert(before_post == 1);
    while (gate.load() == 0) {
        timespec moment = {0, 1000};
        nanosleep(&moment, nullptr);
    }
    assert(before_gate == 1);
    return nullptr;
}

int main() {
    pthread_t thread;
    struct sigaction action = {};
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, nullptr);
    sem_init(&count, 0, 0);
    pthread_barrier_init(&both, nullptr, 2);
    pthread_create(&thread, nullptr, wait_for_all, nullptr);

    pthread_kill(thread, SIGUSR1);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);

    pthread_kill(thread, SIGUSR1);
    before_barrier = 1;
    pthread_barrier_wait(&both);

    pthread_kill(thread, SIGUSR1);
    before_post = 1;
    sem_post(&count);

    before_gate = 1;
    gate.store(1);
    pthread_join(thread, nullptr);
    return handled.load() <= 6 ? 0 : 1;
}
