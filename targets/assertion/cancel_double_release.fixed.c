// Fixed twin of cancel_double_release.c: taking the handler away gives the slot back, once.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int used;

static void give_back(void *unused) {
    (void)unused;
    atomic_fetch_sub(&used, 1);
}

static void *work(void *unused) {
    (void)unused;
    atomic_fetch_add(&used, 1);
    pthread_cleanup_push(give_back, NULL);
    usleep(1);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    assert(atomic_load(&used) == 0);
    return 0;
}
