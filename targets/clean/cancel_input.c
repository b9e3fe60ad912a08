// Threads that are cancelled while they wait for input: by read, by poll, and by a read on a socket.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2], pair[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cleaned;

static void clean_up(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    cleaned++;
    pthread_mutex_unlock(&lock);
}

static void *reader(void *unused) {
    char byte;
    pthread_cleanup_push(clean_up, NULL);
    while (read(ends[0], &byte, 1) == 1)
        ;
    pthread_cleanup_pop(0);
    return unused;
}

static void *poller(void *unused) {
    struct pollfd entry = {.fd = ends[0], .events = POLLIN};
    pthread_cleanup_push(clean_up, NULL);
    while (poll(&entry, 1, -1) != -2)
        ;
    pthread_cleanup_pop(0);
    return unused;
}

static void *receiver(void *unused) {
    char byte;
    pthread_cleanup_push(clean_up, NULL);
    while (recv(pair[0], &byte, 1, 0) == 1)
        ;
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 1;
    void *(*const bodies[])(void *) = {reader, poller, receiver};
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, bodies[i], NULL);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        assert(result == PTHREAD_CANCELED);
    }
    assert(cleaned <= 3);
    return 0;
}
