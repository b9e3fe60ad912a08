// Fixed twin of atexit_thread.c: the thread is waited for before the function returns.

#include <pthread.h>
#include <stdlib.h>

int statistics = 3;
int written;

static void *write_statistics(void *unused) {
    written = statistics;
    return unused;
}

static void start_writing(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, write_statistics, NULL) != 0)
        abort();
    pthread_join(thread, NULL);
}

static void take_down(void) {
    statistics = 0;
}

int main(void) {
    // The last one comes first.
    atexit(take_down);
    atexit(start_writing);
    return 0;
}
