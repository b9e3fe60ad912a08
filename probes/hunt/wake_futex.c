//~ about: FUTEX_WAIT may return without anybody having changed the word; a loop is needed
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int word;
static void *give(void *arg)
{
    word = 1;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    return arg;
}
static void *poke(void *arg)
{
    // Somebody who wakes a futex at an address that used to be his.
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, give, 0);
    pthread_create(&b, 0, poke, 0);
#ifdef BUG
    if (!word)
#else
    while (!word)
#endif
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    assert(word == 1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
