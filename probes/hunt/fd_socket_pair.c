//~ about: what is sent through a pair of sockets orders threads; shutdown does too
//~ revisions: ok racy
//~[ok] truth: clean
//~[racy] truth: race
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
static int s[2], n;
static void *sends(void *arg)
{
    n = 1;
#ifdef OK
    shutdown(s[1], SHUT_WR);
#else
    char c = 0;
    send(s[1], &c, 1, 0);
    n = 2;
#endif
    return arg;
}
int main(void)
{
    pthread_t t;
    char c;
    socketpair(AF_UNIX, SOCK_STREAM, 0, s);
    pthread_create(&t, 0, sends, 0);
    recv(s[0], &c, 1, 0);
    n++;
    pthread_join(t, 0);
    return 0;
}
