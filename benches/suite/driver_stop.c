// bug: assertion
// A driver is stopped while a request comes in: the request checks whether it may start, is preempted, and works on a driver
// that has meanwhile been stopped. The shape of the Bluetooth driver.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool stopping, stopped, idle;
static atomic_int pending = 1;

static bool begin(void) {
    if (stopping)
        return false;
    pending++;
    return true;
}

static void finish(void) {
    if (--pending == 0)
        idle = true;
}

static void *request(void *unused) {
    if (begin()) {
        assert(!stopped);
        finish();
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, request, 0);
    stopping = true;
    finish();
    if (idle)
        stopped = true;
    pthread_join(thread, 0);
    return 0;
}
