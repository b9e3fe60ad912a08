// verdict: race-free A
// Threads and locks of C11; an attempt counts if its result says so.
#include <threads.h>

static mtx_t lock;
static int count;

static int work(void *argument) {
    (void)argument;
    if (mtx_trylock(&lock) != thrd_success)
        return 1;
    count++;
    mtx_unlock(&lock);
    return 0;
}

int main(void) {
    thrd_t thread;
    mtx_init(&lock, mtx_plain);
    thrd_create(&thread, work, 0);
    mtx_lock(&lock);
    count++;
    mtx_unlock(&lock);
    thrd_join(thread, 0);
    return 0;
}
