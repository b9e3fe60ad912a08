// Two threads send each other more than a pipe holds, and one of them receives first.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum { CAPACITY = 4096, LENGTH = 3 * CAPACITY };

static int there[2];
static int back[2];
static char question[LENGTH];
static char answer[LENGTH];

static int receive(int end, char *into) {
    for (int got = 0; got < LENGTH;) {
        ssize_t now = read(end, into + got, LENGTH - got);
        if (now <= 0) {
            return 1;
        }
        got += now;
    }
    return 0;
}

static void *respond(void *unused) {
    static char received[LENGTH];
    (void)unused;
    receive(there[0], received);
    write(back[1], answer, LENGTH);
    return NULL;
}

int main(void) {
    static char received[LENGTH];
    pthread_t responder;
    if (pipe(there) != 0 || pipe(back) != 0) {
        return 1;
    }
    fcntl(there[1], F_SETPIPE_SZ, CAPACITY);
    fcntl(back[1], F_SETPIPE_SZ, CAPACITY);
    pthread_create(&responder, NULL, respond, NULL);
    if (write(there[1], question, LENGTH) != LENGTH) {
        return 1;
    }
    int failed = receive(back[0], received);
    pthread_join(responder, NULL);
    return failed;
}
