// An echo server over loopback with a thread per connection. A lock protects what they count
// together.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2 };

static struct sockaddr_in address;
static int listener;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int handled;

static void *handle(void *argument) {
    int connection = (int)(intptr_t)argument;
    int number;
    while (recv(connection, &number, sizeof number, MSG_WAITALL) == sizeof number) {
        pthread_mutex_lock(&lock);
        handled++;
        pthread_mutex_unlock(&lock);
        send(connection, &number, sizeof number, 0);
    }
    close(connection);
    return NULL;
}

static void *serve(void *unused) {
    (void)unused;
    pthread_t handlers[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        int connection = accept(listener, NULL, NULL);
        pthread_create(&handlers[i], NULL, handle, (void *)(intptr_t)connection);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(handlers[i], NULL);
    }
    return NULL;
}

static void *ask(void *argument) {
    int number = (int)(intptr_t)argument, echo = -1;
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0) {
        send(connection, &number, sizeof number, 0);
        recv(connection, &echo, sizeof echo, MSG_WAITALL);
    }
    close(connection);
    return (void *)(intptr_t)(echo != number);
}

int main(void) {
    pthread_t server, clients[CLIENTS];
    socklen_t length = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, CLIENTS) != 0) {
        return 1;
    }
    getsockname(listener, (struct sockaddr *)&address, &length);
    pthread_create(&server, NULL, serve, NULL);
    for (intptr_t i = 0; i < CLIENTS; i++) {
        pthread_create(&clients[i], NULL, ask, (void *)i);
    }
    intptr_t failed = 0;
    for (int i = 0; i < CLIENTS; i++) {
        void *result;
        pthread_join(clients[i], &result);
        failed |= (intptr_t)result;
    }
    pthread_join(server, NULL);
    return (int)failed;
}
