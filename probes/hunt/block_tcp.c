//~ about: a client and a server of one program, over the loopback
//~ truth: clean
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static struct sockaddr_in address;
static void *client(void *arg)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(s, (struct sockaddr *)&address, sizeof address) == 0);
    assert(send(s, "ping", 4, 0) == 4);
    close(s);
    return arg;
}
int main(void)
{
    pthread_t a;
    socklen_t n = sizeof address;
    char b[8];
    int l = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(l, (struct sockaddr *)&address, sizeof address) == 0);
    getsockname(l, (struct sockaddr *)&address, &n);
    assert(listen(l, 1) == 0);
    pthread_create(&a, 0, client, 0);
    int s = accept(l, 0, 0);
    assert(s >= 0 && recv(s, b, 4, MSG_WAITALL) == 4 && !memcmp(b, "ping", 4));
    pthread_join(a, 0);
    close(s);
    close(l);
    return 0;
}
