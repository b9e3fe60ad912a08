// One thread takes all signals by sigwait; all others block them. Standard signals that come together are one,
// queued ones are not.

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static sigset_t signals;
int jobs;

static void *take(void *sum) {
    for (int taken = 0; taken < 4; taken++) {
        siginfo_t info;
        if (sigwaitinfo(&signals, &info) == SIGRTMIN)
            *(int *)sum += jobs + info.si_value.sival_int;
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    int sum = 0, first, got;
    sigset_t pending;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    raise(SIGTERM);
    sigpending(&pending);
    assert(sigismember(&pending, SIGTERM));
    assert(sigwait(&signals, &first) == 0 && first == SIGTERM);
    jobs = 1;
    pthread_create(&thread, NULL, take, &sum);
    for (got = 1; got <= 3; got++)
        sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = got});
    pthread_kill(thread, SIGRTMIN);
    pthread_join(thread, NULL);
    assert(sum == 4 + 6);
    return 0;
}
