//~ about: calls with arguments that are wrong fail as the C library and the kernel have them fail, and wait for nothing
//~ revisions: time pipes output sockets memory futex poll
//~ truth: clean
//~ want: proved
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#define FAILS(call, error) (errno = 0, assert((call) < 0), assert(errno == (error)))
static char big[20000];
static void *check(void *arg)
{
#ifdef TIME
    struct timespec much = {0, 2000000000}, negative = {-1, 0}, now;
    FAILS(nanosleep(&much, 0), EINVAL);
    FAILS(nanosleep(&negative, 0), EINVAL);
    assert(clock_nanosleep(99, 0, &now, 0) == EINVAL);
    FAILS(clock_gettime(99, &now), EINVAL);
    assert(thrd_sleep(&negative, 0) == -2);
    struct timeval before = {-1, 0};
    FAILS(select(0, 0, 0, 0, &before), EINVAL);
    FAILS(pselect(0, 0, 0, 0, &negative, 0), EINVAL);
    FAILS(ppoll(0, 0, &negative, 0), EINVAL);
    FAILS(timerfd_create(99, 0), EINVAL);
    timer_t timer;
    FAILS(timer_create(99, 0, &timer), EINVAL);
    assert(gettimeofday(0, 0) == 0);
#elif defined PIPES
    int ends[2];
    char byte;
    assert(pipe(ends) == 0);
    FAILS(read(ends[1], &byte, 1), EBADF);
    FAILS(write(ends[0], "x", 1), EBADF);
    assert(read(ends[0], &byte, 0) == 0);
    FAILS(sendfile(ends[1], ends[0], 0, 1), EINVAL);
#elif defined OUTPUT
    int ends[2], pair[2];
    signal(SIGPIPE, SIG_IGN);
    assert(pipe2(ends, O_NONBLOCK) == 0);
    while (write(ends[1], big, sizeof big) > 0)
        ;
    FAILS(write(ends[1], big, sizeof big), EAGAIN);
    close(ends[0]);
    FAILS(write(ends[1], big, sizeof big), EPIPE);
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    while (send(pair[1], big, sizeof big, MSG_DONTWAIT) > 0)
        ;
    FAILS(send(pair[1], big, sizeof big, MSG_DONTWAIT), EAGAIN);
    close(pair[0]);
    FAILS(send(pair[1], big, sizeof big, 0), EPIPE);
    unsigned long all = -1UL;
    FAILS(write(eventfd(0, 0), &all, 8), EINVAL);
#elif defined SOCKETS
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    char byte;
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    assert(bind(server, (void *)&address, size) == 0);
    assert(listen(server, 1) == 0);
    assert(getsockname(server, (void *)&address, &size) == 0);
    FAILS(connect(client, (void *)&address, 2), EINVAL);
    assert(connect(client, (void *)&address, size) == 0);
    FAILS(connect(client, (void *)&address, size), EISCONN);
    FAILS(recv(client, &byte, 1, MSG_OOB), EINVAL);
#elif defined MEMORY
    void *block;
    assert(posix_memalign(&block, 3, 8) == EINVAL);
    assert(posix_memalign(&block, 0, 8) == EINVAL);
    assert(posix_memalign(&block, 4, 8) == EINVAL);
    assert(posix_memalign(&block, 24, 8) == EINVAL);
    stack_t stack = {.ss_sp = big, .ss_flags = 64, .ss_size = sizeof big};
    FAILS(sigaltstack(&stack, 0), EINVAL);
#elif defined FUTEX
    static int words[2];
    struct timespec much = {0, 2000000000};
    FAILS(syscall(SYS_futex, (char *)words + 1, FUTEX_WAIT, 0, 0, 0, 0), EINVAL);
    FAILS(syscall(SYS_futex, words, FUTEX_WAIT_BITSET, 0, 0, 0, 0), EINVAL);
    FAILS(syscall(SYS_futex, words, FUTEX_WAIT, 0, &much, 0, 0), EINVAL);
    FAILS(syscall(SYS_futex, words, 99, 0, 0, 0, 0), ENOSYS);
#elif defined POLL
    FAILS(poll((void *)8, 1, 0), EFAULT);
    FAILS(poll(0, 0x7fffffff, 0), EINVAL);
#endif
    return arg;
}
static void *beside(void *arg)
{
    return arg;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, check, 0);
    pthread_create(&second, 0, beside, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
