// Arguments of the futex call at their limits. Each program is correct because of what the kernel does with them.
//~ about: the futex call treats its counts and flags as the kernel does
//~ revisions: wake_zero wake_negative wait_flag requeue_negative
//~ truth: clean
//~ want: proved
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int word, other;

static long futex(_Atomic int *at, int operation, int value, long count, _Atomic int *second) {
    return syscall(SYS_futex, at, operation, value, count, second, 0);
}

static void *wait_for_it(void *unused) {
    while (!word) {
#ifdef WAIT_FLAG
        // Refused at once: a wait with a duration has no choice of clocks.
        long result = futex(&word, FUTEX_WAIT_PRIVATE | FUTEX_CLOCK_REALTIME, 0, 0, 0);
        assert(result == -1 && errno == ENOSYS);
#else
        futex(&word, FUTEX_WAIT_PRIVATE, 0, 0, 0);
#endif
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, wait_for_it, 0);
    word = 1;
#ifdef WAKE_ZERO
    futex(&word, FUTEX_WAKE_PRIVATE, 0, 0, 0); // wakes one
#elif defined WAKE_NEGATIVE
    futex(&word, FUTEX_WAKE_PRIVATE, -1, 0, 0); // wakes one
#elif defined REQUEUE_NEGATIVE
    long result = futex(&word, FUTEX_REQUEUE_PRIVATE, -1, 1, &other);
    assert(result == -1 && errno == EINVAL);
    futex(&word, FUTEX_WAKE_PRIVATE, 1, 0, 0);
#endif
    pthread_join(thread, 0);
    return 0;
}
