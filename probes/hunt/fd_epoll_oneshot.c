//~ about: two threads wait for one event counter: with EPOLLONESHOT one of them gets it, without both may, and one blocks
//~ revisions: level oneshot
//~[level] truth: deadlock
//~[oneshot] truth: clean
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
static int set, counter, leave;
static void *work(void *arg)
{
    struct epoll_event event;
    for (;;) {
        if (epoll_wait(set, &event, 1, -1) != 1)
            continue;
        if (event.data.fd == leave)
            return arg;
        uint64_t units;
        read(counter, &units, sizeof units);
        units = 1;
        write(leave, &units, sizeof units);
    }
}
int main(void)
{
    pthread_t a, b;
    set = epoll_create1(0);
    counter = eventfd(0, 0);
    leave = eventfd(0, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = counter};
#ifdef ONESHOT
    event.events |= EPOLLONESHOT;
#endif
    epoll_ctl(set, EPOLL_CTL_ADD, counter, &event);
    event.events = EPOLLIN;
    event.data.fd = leave;
    epoll_ctl(set, EPOLL_CTL_ADD, leave, &event);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    uint64_t one = 1;
    write(counter, &one, sizeof one);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
