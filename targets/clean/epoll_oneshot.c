// Two workers share an epoll set. Each connection belongs to the worker that learned it is ready, until that worker arms it
// again: what the one has done with it comes before what the other does.
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct Connection {
    int fd;
    int bytes;
};

static int set;

static void *work(void *unused) {
    (void)unused;
    struct epoll_event event;
    while (epoll_wait(set, &event, 1, -1) == 1) {
        struct Connection *connection = event.data.ptr;
        if (connection == NULL)
            break;
        char byte;
        if (read(connection->fd, &byte, 1) <= 0) {
            close(connection->fd);
            free(connection);
            continue;
        }
        connection->bytes++;
        struct epoll_event again = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = connection};
        epoll_ctl(set, EPOLL_CTL_MOD, connection->fd, &again);
    }
    return NULL;
}

int main(void) {
    int ends[2], stop[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || pipe(stop) != 0)
        return 1;
    set = epoll_create1(0);
    struct Connection *connection = malloc(sizeof *connection);
    connection->fd = ends[0];
    connection->bytes = 0;
    struct epoll_event first = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = connection};
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &first);
    pthread_t workers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    ssize_t sent = write(ends[1], "ab", 2);
    close(ends[1]);
    struct epoll_event end = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(set, EPOLL_CTL_ADD, stop[0], &end);
    sent += write(stop[1], "x", 1);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    return sent != 3;
}
