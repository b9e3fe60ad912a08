// A server on sockets with two workers that wait in the same epoll set. Requests are distinguished by their sockets; what
// is counted over all of them is not.
//
// preemptions: 0
//
// The twin is right because a lock protects what the workers share.

#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 2 };

static int set;
static int clients[WORKERS];
static int servers[WORKERS];
int requests;

static void *work(void *unused) {
    (void)unused;
    struct epoll_event event;
    char letter;
    if (epoll_wait(set, &event, 1, -1) == 1 && recv(servers[event.data.u32], &letter, 1, 0) == 1) {
        requests++; //~ data-race
        send(servers[event.data.u32], &letter, 1, 0);
    }
    return NULL;
}

int main(void) {
    pthread_t workers[WORKERS];
    char letter;
    set = epoll_create1(0);
    for (uint32_t i = 0; i < WORKERS; i++) {
        int pair[2];
        struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = i};
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
            return 1;
        }
        clients[i] = pair[0];
        servers[i] = pair[1];
        epoll_ctl(set, EPOLL_CTL_ADD, servers[i], &event);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&workers[i], NULL, work, NULL);
    }
    for (int i = 0; i < WORKERS; i++) {
        send(clients[i], "?", 1, 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        if (recv(clients[i], &letter, 1, 0) != 1) {
            return 1;
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
    }
    return requests - WORKERS;
}
