// A worker sleeps in `poll` on its own pipe, through which it is woken to stop. A byte in the pipe is there whether
// or not the worker sleeps already.

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static int ends[2];
static atomic_int stop;
static atomic_int sleeping;

static void *work(void *unused) {
    (void)unused;
    while (!atomic_load(&stop)) {
        struct pollfd wake = {.fd = ends[0], .events = POLLIN};
        char byte;
        atomic_store(&sleeping, 1);
        if (poll(&wake, 1, -1) == 1 && read(ends[0], &byte, 1) != 1) {
            break;
        }
        atomic_store(&sleeping, 0);
    }
    return NULL;
}

int main(void) {
    pthread_t worker;
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&worker, NULL, work, NULL);
    atomic_store(&stop, 1);
    if (write(ends[1], "x", 1) != 1) {
        return 1;
    }
    pthread_join(worker, NULL);
    return 0;
}
