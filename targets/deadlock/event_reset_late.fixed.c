// A consumer is woken through an event descriptor in an epoll set. It resets the descriptor, then empties its queue: at
// worst it is woken once for nothing.

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum { ITEMS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queued;
static int notice;

static int take_all(void) {
    pthread_mutex_lock(&lock);
    int taken = queued;
    queued = 0;
    pthread_mutex_unlock(&lock);
    return taken;
}

static void *consume(void *unused) {
    (void)unused;
    struct epoll_event event = {.events = EPOLLIN};
    eventfd_t count;
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, notice, &event);
    for (int taken = 0; taken < ITEMS;) {
        epoll_wait(set, &event, 1, -1);
        eventfd_read(notice, &count);
        taken += take_all();
    }
    return NULL;
}

int main(void) {
    pthread_t consumer;
    notice = eventfd(0, 0);
    pthread_create(&consumer, NULL, consume, NULL);
    for (int item = 0; item < ITEMS; item++) {
        pthread_mutex_lock(&lock);
        queued++;
        pthread_mutex_unlock(&lock);
        eventfd_write(notice, 1);
    }
    pthread_join(consumer, NULL);
    return 0;
}
