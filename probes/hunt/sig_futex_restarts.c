//~ about: a handler interrupts a wait on a futex; the kernel repeats the wait if the handler was installed so, else returns EINTR
//~ revisions: restarts interrupts timed
//~[restarts] truth: clean
//~[restarts] want: proved
//~[interrupts] truth: assertion
//~[timed] truth: assertion
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static atomic_int word = 1;
static void wakes(int signal)
{
    int saved = errno;
    (void)signal;
    atomic_store(&word, 0);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}
static void *waits(void *unused)
{
#ifdef TIMED
    struct timespec limit = {1000, 0}, *until = &limit;
#else
    struct timespec *until = NULL;
#endif
    while (atomic_load(&word) != 0) {
        if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, until, NULL, 0) == -1)
            assert(errno == EAGAIN);
    }
    return unused;
}
int main(void)
{
    struct sigaction action = {.sa_handler = wakes};
#ifndef INTERRUPTS
    action.sa_flags = SA_RESTART;
#endif
    sigaction(SIGUSR1, &action, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    return 0;
}
