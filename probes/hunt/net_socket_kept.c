//~ about: a socket is the same one after it was bound or connected, for copies of its descriptor, sets and options too
//~ revisions: copy set options early
//~[copy] truth: clean
//~[set] truth: clean
//~[options] truth: clean
//~[early] truth: assertion
//~[early] want: found
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
static struct sockaddr_in address;
static void *client(void *unused) {
    int socket_of_client = socket(AF_INET, SOCK_STREAM, 0);
#ifdef OPTIONS
    unsigned limit = 12345, found = 0;
    socklen_t size = sizeof found;
    setsockopt(socket_of_client, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
#endif
#ifdef SET
    struct epoll_event event = {.events = EPOLLOUT};
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, socket_of_client, &event);
#endif
    assert(connect(socket_of_client, (struct sockaddr *)&address, sizeof address) == 0);
#ifdef OPTIONS
    getsockopt(socket_of_client, IPPROTO_TCP, TCP_USER_TIMEOUT, &found, &size);
    assert(found == limit);
#endif
#ifdef SET
    assert(epoll_wait(set, &event, 1, -1) == 1);
#endif
    close(socket_of_client);
    return unused;
}
int main(void) {
    pthread_t a;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0), other = listener;
    address.sin_family = AF_INET;
    address.sin_port = htons(45678);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
#ifdef COPY
    other = dup(listener);
#endif
#ifdef EARLY
    pthread_create(&a, NULL, client, NULL);
#endif
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    assert(listen(other, 4) == 0);
#ifndef EARLY
    pthread_create(&a, NULL, client, NULL);
#endif
    close(accept(other, NULL, NULL));
    pthread_join(a, NULL);
}
