// A thread detaches itself. Main does not know and waits for its end.
//
// preemptions: 0
//
// The twin is right because the thread is not detached.

#include <pthread.h>
#include <stddef.h>

static void *work(void *unused) {
    pthread_detach(pthread_self()); //~ misuse
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    sched_yield();
    pthread_join(thread, NULL); //~ misuse
    return 0;
}
