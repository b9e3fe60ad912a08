//~ about: a thread is cancelled in a call that does not wait, while it holds a lock
//~ revisions: read write open close fsync pread poll select recv fcntl msync fopen freopen tmpfile mkstemp openat creat writev sendto lockf usleep waitpid disabled
//~ truth: deadlock misuse
//~[disabled] truth: clean
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t begun;
static int null, pair[2];
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
#endif
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void)
{
    pthread_t thread;
    null = open("/dev/null", O_RDWR);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    sem_init(&begun, 0, 0);
    pthread_create(&thread, 0, work, 0);
    sem_wait(&begun);
    pthread_cancel(thread);
    pthread_join(thread, 0);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return 0;
}
