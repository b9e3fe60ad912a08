// A function that runs at exit starts a thread to write the statistics, while another function that runs at exit after
// it takes them down. The thread is not joined.
//
// preemptions: 1
//
// The twin is right because the thread is waited for before the function returns.

#include <pthread.h>
#include <stdlib.h>

int statistics = 3;
int written;

static void *write_statistics(void *unused) {
    written = statistics; //~ data-race
    return unused;
}

static void start_writing(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, write_statistics, NULL) != 0)
        abort();
    pthread_detach(thread);
}

static void take_down(void) {
    statistics = 0; //~ data-race
}

int main(void) {
    // The last one comes first.
    atexit(take_down);
    atexit(start_writing);
    return 0;
}
