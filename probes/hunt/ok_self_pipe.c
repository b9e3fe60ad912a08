//~ about: a handler writes to a pipe that the main loop reads
//~ truth: clean
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static int p[2];
static void handler(int s)
{
    int saved = errno;
    write(p[1], "x", 1);
    errno = saved;
}
static void *send(void *arg)
{
    kill(getpid(), SIGUSR1);
    return arg;
}
int main(void)
{
    pthread_t a;
    char c;
    int r;
    pipe(p);
    signal(SIGUSR1, handler);
    pthread_create(&a, 0, send, 0);
    do
        r = (int)read(p[0], &c, 1);
    while (r < 0 && errno == EINTR);
    assert(r == 1 && c == 'x');
    pthread_join(a, 0);
    return 0;
}
