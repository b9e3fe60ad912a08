// Two clients share one connection to a server, and each takes the next reply for its own.
//
// preemptions: 0
//
// The twin is right because a client holds a lock from its request to the reply.

#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2 };

static int connection[2];

static void *serve(void *unused) {
    (void)unused;
    int number;
    for (int i = 0; i < CLIENTS && recv(connection[1], &number, sizeof number, 0) == sizeof number; i++) {
        number *= 10;
        send(connection[1], &number, sizeof number, 0);
    }
    return NULL;
}

static int ask(int number) {
    int reply = 0;
    send(connection[0], &number, sizeof number, 0);
    recv(connection[0], &reply, sizeof reply, MSG_WAITALL);
    return reply;
}

static void *client(void *number) {
    int own = *(int *)number;
    int reply = ask(own);
    assert(reply == own * 10); //~ assertion
    return NULL;
}

int main(void) {
    pthread_t server, clients[CLIENTS];
    int numbers[CLIENTS] = {1, 2};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, connection) != 0) {
        return 1;
    }
    pthread_create(&server, NULL, serve, NULL);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_create(&clients[i], NULL, client, &numbers[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i], NULL);
    }
    pthread_join(server, NULL);
    return 0;
}
