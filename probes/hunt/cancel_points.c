//~ about: a thread is cancelled in a call that does not wait, while it holds a lock
//~ revisions: read write open close fsync pread poll select recv fcntl msync fopen freopen tmpfile mkstemp openat creat writev sendto lockf usleep waitpid recv_ready recvmsg accept connect sigtimedwait sigwait sem_wait sem_timedwait readv preadv pwritev fallocate splice copy_range cond_timed sleep_past epoll tryjoin sendfile disabled
//~ truth: deadlock misuse
//~[disabled] truth: clean
//~[tryjoin] truth: clean
//~[sendfile] truth: clean
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t begun, units;
static int null, pair[2], ends[2], listener, guest, set;
static struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0cancel_points"};
static const socklen_t name_size = offsetof(struct sockaddr_un, sun_path) + sizeof "\0cancel_points";
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_t gone;
static const struct timespec past = {1, 0}, at_once = {0, 0};
static void *ends_at_once(void *p)
{
    return p;
}
static char page[4096];
static void *work(void *p)
{
    char c = 0;
    pthread_mutex_lock(&lock);
#ifdef DISABLED
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
#endif
    sem_post(&begun);
#if defined READ || defined DISABLED
    read(null, &c, 1);
#elif defined WRITE
    write(null, &c, 1);
#elif defined OPEN
    open("/dev/zero", O_RDONLY);
#elif defined CLOSE
    close(null);
#elif defined FSYNC
    fsync(null);
#elif defined PREAD
    pread(null, &c, 1, 0);
#elif defined POLL
    poll(0, 0, 0);
#elif defined SELECT
    struct timeval now = {0, 0};
    select(0, 0, 0, 0, &now);
#elif defined RECV
    recv(pair[0], &c, 1, MSG_DONTWAIT);
#elif defined FCNTL
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(null, F_SETLKW, &all);
#elif defined MSYNC
    msync(page, sizeof page, MS_ASYNC);
#elif defined FOPEN
    fopen("/dev/zero", "r");
#elif defined FREOPEN
    freopen("/dev/zero", "r", stdin);
#elif defined TMPFILE
    tmpfile();
#elif defined MKSTEMP
    char name[] = "cancelXXXXXX";
    mkstemp(name);
#elif defined OPENAT
    openat(AT_FDCWD, "/dev/zero", O_RDONLY);
#elif defined CREAT
    creat("cancelled", 0600);
#elif defined WRITEV
    struct iovec one = {&c, 1};
    writev(null, &one, 1);
#elif defined SENDTO
    sendto(pair[0], &c, 1, 0, 0, 0);
#elif defined LOCKF
    lockf(null, F_LOCK, 0);
#elif defined USLEEP
    usleep(0);
#elif defined WAITPID
    waitpid(-1, 0, WNOHANG);
#elif defined RECV_READY
    recv(pair[0], &c, 1, 0);
#elif defined RECVMSG
    struct iovec one = {&c, 1};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    recvmsg(pair[0], &message, 0);
#elif defined ACCEPT
    accept(listener, 0, 0);
#elif defined CONNECT
    connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, name_size);
#elif defined SIGTIMEDWAIT
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigtimedwait(&signals, 0, &at_once);
#elif defined SIGWAIT
    int signal;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, 0);
    raise(SIGUSR1);
    sigwait(&signals, &signal);
#elif defined SEM_WAIT
    sem_wait(&units);
#elif defined SEM_TIMEDWAIT
    sem_timedwait(&units, &past);
#elif defined READV
    struct iovec one = {&c, 1};
    readv(pair[0], &one, 1);
#elif defined PREADV
    struct iovec one = {&c, 1};
    preadv(null, &one, 1, 0);
#elif defined PWRITEV
    struct iovec one = {&c, 1};
    pwritev(null, &one, 1, 0);
#elif defined FALLOCATE
    fallocate(null, 0, 0, 1);
#elif defined SPLICE
    splice(pair[0], 0, ends[1], 0, 1, 0);
#elif defined COPY_RANGE
    copy_file_range(null, 0, null, 0, 1, 0);
#elif defined COND_TIMED
    pthread_mutex_lock(&other);
    pthread_cond_timedwait(&never, &other, &past);
    pthread_mutex_unlock(&other);
#elif defined SLEEP_PAST
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, 0);
#elif defined EPOLL
    struct epoll_event event;
    epoll_wait(set, &event, 1, 0);
#elif defined TRYJOIN
    pthread_tryjoin_np(gone, 0);
#elif defined SENDFILE
    sendfile(ends[1], null, 0, 1);
#endif
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void)
{
    pthread_t thread;
    null = open("/dev/null", O_RDWR);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    write(pair[1], "ab", 2);
    sem_init(&begun, 0, 0);
#if defined ACCEPT || defined CONNECT
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    guest = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&name, name_size);
    listen(listener, 4);
    connect(guest, (struct sockaddr *)&name, name_size);
#elif defined SPLICE || defined SENDFILE
    pipe(ends);
#elif defined EPOLL
    set = epoll_create1(0);
#elif defined TRYJOIN
    pthread_create(&gone, 0, ends_at_once, 0);
#endif
    sem_init(&units, 0, 1);
    pthread_create(&thread, 0, work, 0);
    sem_wait(&begun);
    pthread_cancel(thread);
    pthread_join(thread, 0);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return 0;
}
