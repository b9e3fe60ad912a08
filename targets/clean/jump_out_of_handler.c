// A handler leaves by siglongjmp, which brings the mask back; faults are handled in the same way.

#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static _Thread_local sigjmp_buf out;
static const int *volatile nowhere;

static void on_signal(int signal) { siglongjmp(out, signal); }

static int is_blocked(int signal) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, signal);
}

static void *fault(void *result) {
    for (volatile int i = 0; i < 3; i++) {
        int signal = sigsetjmp(out, 1);
        if (signal == 0)
            *(int *)result = *nowhere;
        if (signal != SIGSEGV || is_blocked(SIGSEGV))
            return NULL;
        signal = sigsetjmp(out, 1);
        if (signal == 0)
            raise(SIGUSR1);
        if (signal != SIGUSR1 || is_blocked(SIGUSR1))
            return NULL;
    }
    *(int *)result = 1;
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int results[2] = {0, 0};
    signal(SIGSEGV, on_signal);
    signal(SIGUSR1, on_signal);
    pthread_create(&first, NULL, fault, &results[0]);
    pthread_create(&second, NULL, fault, &results[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(results[0] && results[1]);
    return 0;
}
