//~ about: a loop that waits and leaves descriptors open runs out of them, or comes to a large one; one that closes them waits
//~ revisions: open dup pipe eventfd memfd socket closes
//~ truth: assertion
//~[closes] truth: clean
//~ preemptions: 0
//~ cross: no
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
static atomic_int stop;
static void *wait(void *arg)
{
    while (!atomic_load(&stop)) {
#ifdef OPEN
        int fd = open("/dev/null", O_RDONLY);
#elif defined DUP
        int fd = dup(1);
#elif defined PIPE
        int ends[2];
        pipe(ends);
        int fd = ends[0];
#elif defined EVENTFD
        int fd = eventfd(0, 0);
#elif defined MEMFD
        int fd = memfd_create("x", 0);
#elif defined SOCKET
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
#else
        int fd = open("/dev/null", O_RDONLY);
        close(fd);
#endif
        assert(fd < 20);
    }
    return arg;
}
static void *end(void *arg)
{
    atomic_store(&stop, 1);
    return arg;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, wait, 0);
    pthread_create(&second, 0, end, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
