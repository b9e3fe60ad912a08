// Threads that wait for each other in loops: by spinning, yielding or sleeping, by waits whose time has passed, and for a lock
// of their own making.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static atomic_int stage, taken;
static int sum, done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void add(void) {
    while (atomic_exchange(&taken, 1)) {
    }
    sum++;
    atomic_store(&taken, 0);
}

static void *other(void *unused) {
    while (atomic_load(&stage) != 1) {
    }
    add();
    usleep(1000);
    atomic_store(&stage, 2);
    while (atomic_load(&stage) != 3)
        sched_yield();
    usleep(100000);
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    atomic_store(&stage, 1);
    add();
    while (atomic_load(&stage) != 2)
        usleep(100);
    atomic_store(&stage, 3);
    const struct timespec past = {2, 0};
    pthread_mutex_lock(&lock);
    while (!done)
        pthread_cond_timedwait(&changed, &lock, &past);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    assert(sum == 2);
    return 0;
}
