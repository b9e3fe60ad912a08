//~ about: a wake reaches only waits of its own scope: those with FUTEX_PRIVATE_FLAG, or those without
//~ revisions: mixed private shared
//~[mixed] truth: deadlock
//~[private] truth: clean
//~[shared] truth: clean
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined MIXED
enum { WAIT = FUTEX_WAIT_PRIVATE, WAKE = FUTEX_WAKE };
#elif defined PRIVATE
enum { WAIT = FUTEX_WAIT_PRIVATE, WAKE = FUTEX_WAKE_PRIVATE };
#else
enum { WAIT = FUTEX_WAIT, WAKE = FUTEX_WAKE };
#endif
static _Atomic int word;
static void *waiter(void *unused) {
    while (atomic_load(&word) == 0)
        syscall(SYS_futex, &word, WAIT, 0, NULL, NULL, 0);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, waiter, NULL);
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, WAKE, 1, NULL, NULL, 0);
    pthread_join(thread, NULL);
}
