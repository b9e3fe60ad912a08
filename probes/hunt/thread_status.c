//~ about: results of threads: returned, by pthread_exit, cancelled
//~ revisions: ok wrong
//~[ok] truth: clean
//~[wrong] truth: assertion
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static void *returns(void *arg)
{
    return arg;
}
static void *leaves(void *arg)
{
    pthread_exit((char *)arg + 1);
}
static void *waits(void *arg)
{
    pause();
    return arg;
}
int main(void)
{
    static char base[4];
    void *a, *b, *c;
    pthread_t t[3];
    pthread_create(&t[0], 0, returns, base);
    pthread_create(&t[1], 0, leaves, base);
    pthread_create(&t[2], 0, waits, base);
    pthread_cancel(t[2]);
    pthread_join(t[0], &a);
    pthread_join(t[1], &b);
    pthread_join(t[2], &c);
    assert(a == base && b == base + 1);
#ifdef WRONG
    assert(c == base);
#else
    assert(c == PTHREAD_CANCELED);
#endif
    return 0;
}
