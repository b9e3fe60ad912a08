// The threads of the C standard: thread, mutex, condition variable, once. (ThreadSanitizer does not know them.)

#include <stddef.h>
#include <threads.h>

static int ready, initialised;
static mtx_t lock;
static cnd_t changed;
static once_flag flag = ONCE_FLAG_INIT;

static void initialise(void) { initialised++; }

static int finish(void *unused) {
    (void)unused;
    call_once(&flag, initialise);
    mtx_lock(&lock);
    ready = 1;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    return 7;
}

int main(void) {
    thrd_t worker;
    int result = 0;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    if (thrd_create(&worker, finish, NULL) != thrd_success)
        return 1;
    call_once(&flag, initialise);
    mtx_lock(&lock);
    while (!ready)
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    thrd_join(worker, &result);
    cnd_destroy(&changed);
    mtx_destroy(&lock);
    return result != 7 || initialised != 1;
}
