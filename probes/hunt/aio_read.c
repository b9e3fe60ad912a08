//~ about: asynchronous input writes the buffer while it is read
//~ revisions: bug fixed
//~[bug] truth: race exit-status
//~[bug] want: no-claim
//~[fixed] truth: clean
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
static char buf[8];
static void *nothing(void *arg) { return arg; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, nothing, 0);
    struct aiocb c;
    memset(&c, 0, sizeof c);
    c.aio_fildes = open("/etc/passwd", O_RDONLY);
    c.aio_buf = buf;
    c.aio_nbytes = 4;
    if (aio_read(&c))
        return 0;
#ifdef BUG
    char first = buf[0];
#endif
    const struct aiocb *list[] = {&c};
    while (aio_error(&c) == EINPROGRESS)
        aio_suspend(list, 1, 0);
#ifdef FIXED
    char first = buf[0];
#endif
    pthread_join(t, 0);
    return first == 'r' ? 0 : 3;
}
