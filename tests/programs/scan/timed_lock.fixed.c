// verdict: race-free A
// A lock that is waited for until a certain time is held if the result says so.
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *argument) {
    struct timespec soon = {0, 0};
    (void)argument;
    if (pthread_mutex_timedlock(&lock, &soon) == 0) {
        count++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
