// verdict: race C
// Threads and locks of C11; an attempt whose result nobody looks at.
#include <threads.h>

static mtx_t lock;
static int count;

static int work(void *argument) {
    (void)argument;
    mtx_trylock(&lock);
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
