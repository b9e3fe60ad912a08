// Fixed twin of joined_detached.c: the thread is not detached.

#include <pthread.h>
#include <stddef.h>

static void *work(void *unused) {
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    sched_yield();
    pthread_join(thread, NULL);
    return 0;
}
