//~ about: a timer's file descriptor, and a thread that does not wait for it
//~ revisions: ordered racy
//~[ordered] truth: clean
//~[racy] truth: race
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>
static int n;
static void *work(void *arg)
{
    n++;
    return arg;
}
int main(void)
{
    pthread_t t;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec when = {.it_value.tv_sec = 5};
    timerfd_settime(fd, 0, &when, 0);
    pthread_create(&t, 0, work, 0);
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    poll(&entry, 1, -1);
    uint64_t times;
    read(fd, &times, sizeof times);
#ifdef ORDERED
    pthread_join(t, 0);
    n++;
#else
    n++;
    pthread_join(t, 0);
#endif
    return 0;
}
