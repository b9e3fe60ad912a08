// A message is handed over through a pipe, complete when it is sent.
//
// What was written before a byte went into the pipe happened before whatever follows its arrival.

#include <pthread.h>
#include <unistd.h>

struct message {
    int kind;
    int length;
};

static int ends[2];
static struct message message;
int seen;

static void *receive(void *unused) {
    (void)unused;
    struct message *arrived;
    if (read(ends[0], &arrived, sizeof arrived) != sizeof arrived) {
        return NULL;
    }
    seen = arrived->kind + arrived->length;
    return NULL;
}

int main(void) {
    pthread_t receiver;
    struct message *sent = &message;
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&receiver, NULL, receive, NULL);
    sent->kind = 1;
    sent->length = 2;
    if (write(ends[1], &sent, sizeof sent) != sizeof sent) {
        return 1;
    }
    pthread_join(receiver, NULL);
    return 0;
}
