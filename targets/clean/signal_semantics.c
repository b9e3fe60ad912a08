// What POSIX says about handlers, masks and pending signals, in one thread.

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static volatile int order, value, code;
static volatile pid_t sender;

static void note(int signal) { order = order * 10 + (signal == SIGUSR1 ? 1 : 2); }

static void note_info(int signal, siginfo_t *info, void *context) {
    note(signal);
    value = info->si_value.sival_int;
    code = info->si_code;
    sender = info->si_pid;
    assert(context != NULL);
}

static void nest(int signal) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    assert(sigismember(&mask, signal) && sigismember(&mask, SIGTERM));
    note(signal);
    raise(SIGUSR2);
    note(signal);
}

static void set(int signal, void (*handler)(int), int flags) {
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGTERM);
    assert(sigaction(signal, &action, NULL) == 0);
    assert(sigaction(signal, NULL, &old) == 0 && old.sa_handler == handler && (old.sa_flags & ~0x04000000) == flags);
    assert(sigismember(&old.sa_mask, SIGTERM) && !sigismember(&old.sa_mask, SIGHUP));
}

static void *other_mask(void *unused) {
    sigset_t mask;
    (void)unused;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    assert(sigismember(&mask, SIGUSR1));
    sigemptyset(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    assert(order == 1);
    return NULL;
}

int main(void) {
    sigset_t set1, mask, pending;
    struct sigaction with_info;
    pthread_t thread;

    // Handlers, one inside the other.
    set(SIGUSR1, nest, 0);
    set(SIGUSR2, note, 0);
    assert(raise(SIGUSR1) == 0 && order == 121);

    // What a handler receives.
    memset(&with_info, 0, sizeof with_info);
    with_info.sa_sigaction = note_info;
    with_info.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &with_info, NULL);
    order = 0;
    assert(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42}) == 0);
    assert(order == 1 && value == 42 && code == SI_QUEUE && sender == getpid());
    assert(kill(getpid(), SIGUSR1) == 0 && code == SI_USER && sender == getpid());
    assert(pthread_kill(pthread_self(), SIGUSR1) == 0 && code == SI_TKILL);

    // Blocked signals wait, and are one.
    set(SIGUSR1, note, 0);
    sigemptyset(&set1);
    sigaddset(&set1, SIGUSR1);
    assert(sigprocmask(SIG_BLOCK, &set1, &mask) == 0 && !sigismember(&mask, SIGUSR1));
    order = 0;
    raise(SIGUSR1);
    raise(SIGUSR1);
    sigpending(&pending);
    assert(order == 0 && sigismember(&pending, SIGUSR1) && !sigismember(&pending, SIGUSR2));
    sigprocmask(SIG_UNBLOCK, &set1, NULL);
    assert(order == 1);

    // A blocked signal to the process goes to a thread that takes it.
    sigprocmask(SIG_BLOCK, &set1, NULL);
    order = 0;
    kill(getpid(), SIGUSR1);
    pthread_create(&thread, NULL, other_mask, NULL);
    pthread_join(thread, NULL);
    assert(order == 1);
    sigprocmask(SIG_UNBLOCK, &set1, NULL);
    assert(order == 1);

    // Ignored, reset, once only.
    assert(signal(SIGUSR1, SIG_IGN) == note);
    assert(raise(SIGUSR1) == 0 && order == 1);
    set(SIGUSR1, note, SA_RESETHAND);
    raise(SIGUSR1);
    assert(signal(SIGUSR1, note) == SIG_DFL && order == 11);
    assert(raise(SIGCHLD) == 0 && raise(SIGURG) == 0);

    // A pending signal that is ignored later never comes.
    order = 0;
    sigprocmask(SIG_BLOCK, &set1, NULL);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR1, note);
    sigprocmask(SIG_UNBLOCK, &set1, NULL);
    assert(order == 0);

    // sigsuspend lets it come, and blocks it again.
    sigprocmask(SIG_BLOCK, &set1, NULL);
    raise(SIGUSR1);
    sigemptyset(&mask);
    assert(sigsuspend(&mask) == -1 && errno == EINTR && order == 1);
    raise(SIGUSR1);
    assert(order == 1);
    sigprocmask(SIG_UNBLOCK, &set1, NULL);
    assert(order == 11);

    // Errors.
    assert(kill(getpid(), 0) == 0 && pthread_kill(pthread_self(), 0) == 0);
    assert(kill(getpid(), 99) == -1 && errno == EINVAL);
    assert(signal(SIGKILL, note) == SIG_ERR && errno == EINVAL);
    assert(pthread_sigmask(9, &set1, NULL) == EINVAL);
    return 0;
}
