// Fixed twin of closed_descriptor.c: the descriptor is closed when the writer has ended.

#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void *greet(void *unused) {
    (void)unused;
    if (write(ends[0], "hello", 5) != 5)
        perror("write");
    return NULL;
}

int main(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    pthread_t writer;
    pthread_create(&writer, NULL, greet, NULL);
    pthread_join(writer, NULL);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
