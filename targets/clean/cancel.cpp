// Cancellation ends a wait, runs cleanup handlers and destructors from the inside out, and shows in the result. A thread
// that does not allow it continues, and may have ended before it is cancelled.

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t arrived, none;

struct Trace {
    int *steps;
    int digit;
    ~Trace() { *steps = *steps * 10 + digit; }
};

static void unlock(void *mutex) { pthread_mutex_unlock(static_cast<pthread_mutex_t *>(mutex)); }

static void *wait_condition(void *steps) {
    Trace outer{static_cast<int *>(steps), 1};
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    Trace inner{static_cast<int *>(steps), 2};
    sem_post(&arrived);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return nullptr;
}

static void *wait_semaphore(void *steps) {
    Trace outer{static_cast<int *>(steps), 3};
    sem_post(&arrived);
    sem_wait(&none);
    return nullptr;
}

static void *refuse(void *steps) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    sem_post(&arrived);
    timespec moment = {0, 1000000};
    nanosleep(&moment, nullptr);
    pthread_testcancel();
    *static_cast<int *>(steps) = 4;
    pthread_setcancelstate(before, nullptr);
    pthread_testcancel();
    *static_cast<int *>(steps) = 5;
    return nullptr;
}

int main() {
    void *(*starts[])(void *) = {wait_condition, wait_semaphore, refuse};
    int steps[3] = {0, 0, 0};
    const int expected[3] = {21, 3, 4};
    const int finished = 5;
    sem_init(&arrived, 0, 0);
    sem_init(&none, 0, 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *result = nullptr;
        pthread_create(&thread, nullptr, starts[i], &steps[i]);
        sem_wait(&arrived);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        assert(steps[i] == (result == PTHREAD_CANCELED ? expected[i] : finished));
        assert(pthread_mutex_trylock(&lock) == 0);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
