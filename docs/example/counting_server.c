// A server that counts: a thread for each connection, and one number for all of them. With -DFIXED the number has a lock; with -DATOMIC there
// is no race, and two that count at the same time still lose one.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef ATOMIC
static _Atomic int total;
#else
static int total;
#endif

static int count(void) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int seen = total;
    total = seen + 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return seen + 1;
}

static void *serve(void *argument) {
    int connection = (int)(intptr_t)argument;
    char line[64], reply[32];
    ssize_t length;
    while ((length = read(connection, line, sizeof line)) > 0) {
        if (!memcmp(line, "quit", 4))
            exit(0);
        int size = snprintf(reply, sizeof reply, "%d\n", count());
        if (write(connection, reply, (size_t)size) != size)
            break;
    }
    close(connection);
    return NULL;
}

int main(int argc, char **argv) {
    int port = argc > 1 ? atoi(argv[1]) : 8123;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        pthread_t thread;
        if (connection < 0 || pthread_create(&thread, NULL, serve, (void *)(intptr_t)connection) != 0)
            return 1;
        pthread_detach(thread);
    }
}
