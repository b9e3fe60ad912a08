// A timer that is a file: waited for by poll and by epoll, with a thread that is woken by the other end of a pipe.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int ends[2];

static void *ticker(void *unused) {
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec every = {.it_value = {.tv_sec = 1}, .it_interval = {.tv_sec = 2}};
    timerfd_settime(timer, 0, &every, NULL);
    for (int tick = 0; tick < 2; tick++) {
        struct pollfd entry = {.fd = timer, .events = POLLIN};
        assert(poll(&entry, 1, -1) == 1);
        uint64_t expirations = 0;
        assert(read(timer, &expirations, sizeof expirations) == sizeof expirations && expirations >= 1);
        char byte = (char)('a' + tick);
        assert(write(ends[1], &byte, 1) == 1);
    }
    close(timer);
    return unused;
}

int main(void) {
    if (pipe(ends) != 0)
        return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, ticker, NULL);
    int set = epoll_create1(0);
    struct epoll_event interest = {.events = EPOLLIN, .data.fd = ends[0]};
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &interest);
    for (int i = 0; i < 2; i++) {
        struct epoll_event event;
        assert(epoll_wait(set, &event, 1, -1) == 1);
        char byte;
        assert(read(ends[0], &byte, 1) == 1 && byte == 'a' + i);
    }
    pthread_join(thread, NULL);
    close(set);
    return 0;
}
