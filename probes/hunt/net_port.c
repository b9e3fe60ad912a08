//~ about: a server and its clients in one process, at a port that is always the same; every execution binds it anew
//~ revisions: bug fixed datagram
//~[bug] truth: data-race
//~[fixed] truth: clean
//~[datagram] truth: clean
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
static int served;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = 0x0f87, .sin_addr = {0x0100007f}};
static void *client(void *p)
{
    char c = 'x';
#ifdef DATAGRAM
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    sendto(s, &c, 1, 0, (const struct sockaddr *)&place, sizeof place);
#else
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(s, (const struct sockaddr *)&place, sizeof place)) return (void *)1;
    write(s, &c, 1);
    read(s, &c, 1);
#endif
    close(s);
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    served++;
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    return p;
}
int main(void)
{
    pthread_t threads[2];
    char c;
#ifdef DATAGRAM
    int door = socket(AF_INET, SOCK_DGRAM, 0);
#else
    int door = socket(AF_INET, SOCK_STREAM, 0);
#endif
    if (bind(door, (const struct sockaddr *)&place, sizeof place)) {
        perror("bind");
        return 1;
    }
    listen(door, 4);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, client, 0);
    for (int i = 0; i < 2; i++) {
#ifdef DATAGRAM
        recv(door, &c, 1, 0);
#else
        int s = accept(door, 0, 0);
        read(s, &c, 1);
        write(s, &c, 1);
        close(s);
#endif
    }
    void *failed[2];
    for (int i = 0; i < 2; i++) pthread_join(threads[i], &failed[i]);
    return failed[0] || failed[1];
}
