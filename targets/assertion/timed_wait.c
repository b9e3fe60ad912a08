// A timed wait decides by its return value instead of by the state. If the time expires while the sender is
// already at work under the lock, the message has been delivered and is nevertheless taken for missing.
//
// preemptions: 1
//
// The twin is right because what counts is whether the message is there, whatever ended the wait.

#include <assert.h>
#include <pthread.h>
#include <time.h>

static int delivered, closed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;

static void *send_message(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    if (!closed) {
        delivered = 1;
        pthread_cond_signal(&arrived);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t sender;
    struct timespec deadline;
    int error = 0;
    pthread_create(&sender, NULL, send_message, NULL);
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 1;
    pthread_mutex_lock(&lock);
    while (!delivered && error == 0)
        error = pthread_cond_timedwait(&arrived, &lock, &deadline);
    int received = error == 0;
    closed = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(sender, NULL);
    assert(received == delivered); //~ assertion
    return 0;
}
