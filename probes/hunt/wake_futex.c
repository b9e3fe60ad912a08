//~ about: a wait on a futex may end for no reason
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] want: found
//~[fixed] truth: clean
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_uint word;
static void *sets(void *unused) {
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, NULL, sets, NULL);
#ifdef FIXED
    while (atomic_load(&word) == 0)
#else
    if (atomic_load(&word) == 0)
#endif
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    assert(atomic_load(&word) == 1);
    pthread_join(a, NULL);
}
