// A message port, as an operating system has it for the threads of a partition: a ring of messages under a lock, which one
// thread fills, and from which another one waits for as long as it takes. The sender
// reads the count before it takes the lock: experiment 3 of the watchpoint paper.
//
// preemptions: 1
//
// The twin is right because the sender takes the lock first.

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MESSAGES 2

struct port {
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    int count;
    int first;
    char ring[4][16];
};

struct port port = {.lock = PTHREAD_MUTEX_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER};

static int send_message(const char *message) {
    pthread_mutex_lock(&port.lock);
    int count = port.count;
    strcpy(port.ring[(port.first + count) % 4], message);
    port.count = count + 1;
    pthread_cond_signal(&port.arrived);
    pthread_mutex_unlock(&port.lock);
    return 1;
}

static int receive_message(char *message) {
    pthread_mutex_lock(&port.lock);
    int known = port.count;
    while (port.count == 0)
        pthread_cond_wait(&port.arrived, &port.lock);
    strcpy(message, port.ring[port.first]);
    port.first = (port.first + 1) % 4;
    port.count = port.count - 1;
    pthread_mutex_unlock(&port.lock);
    return known;
}

static void *sender(void *unused) {
    (void)unused;
    for (int i = 0; i < MESSAGES; i++)
        send_message("message");
    return NULL;
}

static void *receiver(void *unused) {
    (void)unused;
    char message[16] = "";
    int known = 0;
    for (int i = 0; i < MESSAGES; i++)
        known += receive_message(message);
    printf("%s, %d\n", message, known >= 0);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, sender, NULL);
    pthread_create(&threads[1], NULL, receiver, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
