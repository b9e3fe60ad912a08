//~ about: calls with arguments that are wrong fail as the C library and the kernel have them fail, and wait for nothing
//~ revisions: time pipes output sockets memory futex poll refused datagrams locks timers
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
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
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
    FAILS(nanosleep(0, 0), EFAULT);
    FAILS(clock_gettime(-1, &now), EINVAL);
    assert(clock_nanosleep(CLOCK_MONOTONIC_RAW, 0, &(struct timespec){0, 1}, 0) == EOPNOTSUPP);
    FAILS((int)ualarm(5000000, 0), EINVAL);
    struct timeval short_time = {0, 1000};
    assert(select(0, 0, 0, 0, &short_time) == 0);
    assert(short_time.tv_sec == 0 && short_time.tv_usec == 0);
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
    struct epoll_event event;
    struct timespec much = {0, 1000000000};
    FAILS(epoll_pwait2(epoll_create1(0), &event, 1, &much, 0), EINVAL);
#elif defined REFUSED
    int ends[2], others[2], pair[2];
    loff_t offset = 0;
    assert(pipe(ends) == 0 && pipe(others) == 0);
    FAILS(splice(ends[0], &offset, others[1], 0, 1, 0), ESPIPE);
    FAILS(splice(ends[0], 0, ends[1], 0, 1, 0), EINVAL);
    assert(splice(ends[0], 0, others[1], 0, 0, 0) == 0);
    struct iovec piece = {big, 1};
    FAILS(writev(ends[1], &piece, 2000), EINVAL);
    FAILS(open((char *)1, O_RDONLY), EFAULT);
    FAILS(sendmsg(99, 0, 0), EBADF);
    assert(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    FAILS(sendmsg(pair[0], 0, 0), EFAULT);
    FAILS(accept(pair[0], 0, 0), EOPNOTSUPP);
    struct mmsghdr message;
    assert(recvmmsg(pair[0], &message, 0, 0, 0) == 0);
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    FAILS(accept(pair[0], 0, 0), EINVAL);
    FAILS(fcntl(ends[0], F_SETLK, 0), EFAULT);
#elif defined DATAGRAMS
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    char byte;
    int one = socket(AF_INET, SOCK_DGRAM, 0), stream = socket(AF_INET, SOCK_STREAM, 0);
    FAILS(accept(one, 0, 0), EOPNOTSUPP);
    assert(bind(one, (void *)&address, size) == 0);
    assert(getsockname(one, (void *)&address, &size) == 0);
    assert(connect(one, (void *)&address, size) == 0);
    assert(shutdown(one, SHUT_RD) == 0);
    assert(recv(one, &byte, 1, 0) == 0);
    address.sin_port = 0;
    assert(bind(stream, (void *)&address, size) == 0);
    assert(getsockname(stream, (void *)&address, &size) == 0);
    close(stream);
    stream = socket(AF_INET, SOCK_STREAM, 0);
    FAILS(connect(stream, (void *)&address, size), ECONNREFUSED);
    FAILS(recv(stream, &byte, 1, 0), ENOTCONN);
#elif defined LOCKS
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    pthread_barrier_t barrier;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutex_lock(&mutex);
    assert(pthread_mutex_trylock(&mutex) == EDEADLK);
    pthread_mutex_unlock(&mutex);
    assert(pthread_barrier_init(&barrier, 0, 0x7fffffff) == EINVAL);
    struct sigaction action;
    assert(sigaction(SIGKILL, 0, &action) == 0);
    FAILS(sigaction(SIGKILL, &action, 0), EINVAL);
#elif defined TIMERS
    int timer = timerfd_create(CLOCK_MONOTONIC, 0), copy = dup(timer);
    unsigned long count = 1;
    struct itimerspec soon = {.it_value = {0, 3000000}};
    FAILS(write(timer, &count, 8), EINVAL);
    struct pollfd entry = {timer, POLLIN | POLLOUT, 0};
    assert(poll(&entry, 1, 0) == 0);
    FAILS(timerfd_settime(timer, 99, &soon, 0), EINVAL);
    FAILS(timerfd_settime(99, 0, &soon, 0), EBADF);
    FAILS(timerfd_settime(0, 0, &soon, 0), EINVAL);
    assert(timerfd_settime(copy, 0, &soon, 0) == 0);
    close(timer);
    assert(read(copy, &count, 8) == 8 && count == 1);
    struct itimerspec past = {.it_interval = {1, 0}};
    clock_gettime(CLOCK_MONOTONIC, &past.it_value);
    past.it_value.tv_sec -= 3;
    assert(timerfd_settime(copy, TFD_TIMER_ABSTIME, &past, 0) == 0);
    assert(read(copy, &count, 8) == 8 && count >= 4);
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
