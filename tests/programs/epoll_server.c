// A server of counters over TCP on loopback, with its clients. One thread waits in epoll for connections, requests and
// finished work; workers carry requests out on a table with a lock; clients count, and ask what they counted. What it
// writes does not depend on the schedule.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 2, CLIENTS = 3, REQUESTS = 6, COUNTERS = 4, LINE = 32 };

struct connection {
    int socket;
    size_t filled;
    char line[LINE];
};

struct job {
    struct job *next;
    struct connection *connection;
    char counter;
    char reply[LINE];
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct job *first, **end;
    bool closed;
};

static struct queue requests = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .end = &requests.first};
static struct queue done = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .end = &done.first};
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned table[COUNTERS];
static int listener, set, finished;
static struct sockaddr_in address;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void put(struct queue *queue, struct job *job) {
    job->next = NULL;
    pthread_mutex_lock(&queue->lock);
    *queue->end = job;
    queue->end = &job->next;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static struct job *take(struct queue *queue, bool wait) {
    pthread_mutex_lock(&queue->lock);
    while (wait && !queue->first && !queue->closed)
        pthread_cond_wait(&queue->filled, &queue->lock);
    struct job *job = queue->first;
    if (job && !(queue->first = job->next))
        queue->end = &queue->first;
    pthread_mutex_unlock(&queue->lock);
    return job;
}

static void *work(void *unused) {
    (void)unused;
    for (struct job *job; (job = take(&requests, true));) {
        unsigned *counter = &table[job->counter - 'a'];
        pthread_mutex_lock(&table_lock);
        unsigned value = ++*counter;
        pthread_mutex_unlock(&table_lock);
        snprintf(job->reply, sizeof job->reply, "%c %s\n", job->counter, value > 0 ? "counted" : "lost");
        put(&done, job);
        if (eventfd_write(finished, 1) != 0)
            fail("eventfd_write");
    }
    return NULL;
}

static void watch(int descriptor, void *data) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = data};
    if (epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) != 0)
        fail("epoll_ctl");
}

static void accept_all(void) {
    for (int socket; (socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
        struct connection *connection = calloc(1, sizeof *connection);
        connection->socket = socket;
        watch(socket, connection);
    }
    if (errno != EAGAIN)
        fail("accept4");
}

// Reads what is there; returns false at the end of the connection.
static bool read_requests(struct connection *connection) {
    for (;;) {
        size_t room = sizeof connection->line - connection->filled;
        ssize_t length = read(connection->socket, connection->line + connection->filled, room);
        if (length == 0)
            return false;
        if (length < 0)
            return errno == EAGAIN;
        connection->filled += (size_t)length;
        for (char *end; (end = memchr(connection->line, '\n', connection->filled));) {
            struct job *job = calloc(1, sizeof *job);
            job->connection = connection;
            job->counter = connection->line[0];
            size_t used = (size_t)(end + 1 - connection->line);
            connection->filled -= used;
            memmove(connection->line, end + 1, connection->filled);
            put(&requests, job);
        }
    }
}

static void send_replies(void) {
    eventfd_t count;
    if (eventfd_read(finished, &count) != 0)
        return;
    for (struct job *job; (job = take(&done, false)); free(job))
        if (write(job->connection->socket, job->reply, strlen(job->reply)) < 0)
            fail("write");
}

static void *serve(void *unused) {
    (void)unused;
    for (int left = CLIENTS; left > 0;) {
        struct epoll_event events[4];
        int ready = epoll_wait(set, events, 4, -1);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (events[i].data.ptr == &listener) {
                accept_all();
            } else if (events[i].data.ptr == &finished) {
                send_replies();
            } else if (!read_requests(connection)) {
                close(connection->socket);
                free(connection);
                left--;
            }
        }
    }
    pthread_mutex_lock(&requests.lock);
    requests.closed = true;
    pthread_cond_broadcast(&requests.filled);
    pthread_mutex_unlock(&requests.lock);
    return NULL;
}

static void *count(void *number) {
    int me = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(me, (struct sockaddr *)&address, sizeof address) != 0)
        fail("connect");
    FILE *replies = fdopen(me, "r");
    for (unsigned i = 0; i < REQUESTS; i++) {
        char request[] = {(char)('a' + ((uintptr_t)number + i) % COUNTERS), '\n'}, reply[LINE];
        if (write(me, request, sizeof request) != sizeof request)
            fail("write");
        if (!fgets(reply, sizeof reply, replies) || reply[0] != request[0])
            fail("fgets");
    }
    fclose(replies);
    return NULL;
}

int main(void) {
    pthread_t server, workers[WORKERS], clients[CLIENTS];
    socklen_t length = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, CLIENTS) != 0
        || getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        fail("listen");
    set = epoll_create1(0);
    finished = eventfd(0, EFD_NONBLOCK);
    watch(listener, &listener);
    watch(finished, &finished);
    pthread_create(&server, NULL, serve, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (uintptr_t i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, count, (void *)i);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    pthread_join(server, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < COUNTERS; i++)
        printf("%c %u\n", 'a' + i, table[i]);
    return 0;
}
