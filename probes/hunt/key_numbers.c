//~ about: which thread gets which key for thread-specific data, or one at all, depends on their order
//~ revisions: order c11 last ordered all
//~ truth: assertion
//~ preemptions: 0
//~[order] want: found
//~[c11] want: found
//~[last] want: no-claim
//~[last] must-not: proved
//~[ordered] truth: clean
//~[ordered] want: proved
//~[all] truth: clean
//~[all] must-not: proved
#include <assert.h>
#include <pthread.h>
#include <threads.h>
#define MOST 1024
static pthread_key_t mine, yours;
static int error;
static void *create(void *unused)
{
#ifdef C11
    tss_create(&yours, 0);
#else
    error = pthread_key_create(&yours, 0);
#endif
    return unused;
}
int main(void)
{
    pthread_t thread;
#if defined LAST || defined ALL
    // All keys that POSIX promises on this system but one.
    for (int at = 0; at < MOST - 2; at++)
        assert(pthread_key_create(&mine, 0) == 0);
#endif
#ifdef LAST
    // None may be left after the next, whatever libraries have taken.
    while (pthread_key_create(&mine, 0) == 0)
        ;
    pthread_key_delete(mine);
#endif
#if defined ORDERED
    pthread_key_create(&mine, 0);
#endif
    pthread_create(&thread, 0, create, 0);
#if defined LAST || defined ALL || defined ORDER
    pthread_key_create(&mine, 0);
#elif defined C11
    tss_create(&mine, 0);
#endif
    pthread_join(thread, 0);
#if defined LAST || defined ALL
    assert(error == 0);
#else
    assert(mine < yours);
#endif
    return 0;
}
