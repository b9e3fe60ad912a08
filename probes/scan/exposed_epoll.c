//~ about: the kernel keeps a pointer and returns it
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
static long cell;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static int set, ends[2];

static long *receive(void)
{
    long *p = 0;
    struct epoll_event event;
    if (epoll_wait(set, &event, 1, -1) == 1)
        p = event.data.ptr;
    return p;
}
static void *work(void *arg)
{
    pthread_barrier_wait(&ready);
    long *p = receive();
    if (!p)
        return arg;
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    ++*p;
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&ready, 0, 2);
    pthread_create(&t, 0, work, 0);
    long *p = &cell;
    struct epoll_event event = { EPOLLIN, { .ptr = p } };
    set = epoll_create1(0);
    if (set < 0 || pipe(ends))
        return 1;
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    write(ends[1], "x", 1);
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&m);
    ++cell;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
