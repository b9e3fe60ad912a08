//~ about: a handler without SA_RESTART ends a call that waits, even if it provides what the call waits for
//~ revisions: read poll semaphore select restarted_poll read_restarted read_ok semaphore_ok
//~ truth: assertion
//~[read_restarted] truth: clean
//~[read_ok] truth: clean
//~[semaphore_ok] truth: clean
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/select.h>
#include <unistd.h>
static int ends[2];
static sem_t semaphore;
static pthread_t first;
static void provides(int unused)
{
    (void)unused;
    int before = errno;
    sem_post(&semaphore);
    (void)!write(ends[1], "x", 1);
    errno = before;
}
static void *sends(void *unused)
{
    pthread_kill(first, SIGUSR1);
    return unused;
}
int main(void)
{
    struct sigaction action = {.sa_handler = provides};
#if defined RESTARTED_POLL || defined READ_RESTARTED
    action.sa_flags = SA_RESTART;
#endif
    first = pthread_self();
    (void)!pipe(ends);
    sem_init(&semaphore, 0, 0);
    sigaction(SIGUSR1, &action, 0);
    pthread_t thread;
    pthread_create(&thread, 0, sends, 0);
#if defined READ || defined READ_RESTARTED || defined READ_OK
    char letter;
    ssize_t count = read(ends[0], &letter, 1);
#ifdef READ_OK
    while (count < 0 && errno == EINTR)
        count = read(ends[0], &letter, 1);
#endif
    assert(count == 1);
#elif defined POLL || defined RESTARTED_POLL
    struct pollfd entry = {ends[0], POLLIN, 0};
    assert(poll(&entry, 1, -1) == 1);
#elif defined SELECT
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    assert(select(ends[0] + 1, &set, 0, 0, 0) == 1);
#elif defined SEMAPHORE
    assert(sem_wait(&semaphore) == 0);
#else
    while (sem_wait(&semaphore) != 0)
        assert(errno == EINTR);
#endif
    pthread_join(thread, 0);
    return 0;
}
