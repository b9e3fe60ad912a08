//~ about: a sequence lock; the reader tries again, or forgets to
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint seq;
static atomic_int x, y;
static void *writer(void *arg)
{
    seq++;
    x = 1;
    y = 1;
    seq++;
    return arg;
}
int main(void)
{
    pthread_t a;
    unsigned s;
    int p, q;
    pthread_create(&a, 0, writer, 0);
    do {
        s = seq;
        p = x;
        q = y;
#ifdef BUG
    } while (s & 1);
#else
    } while ((s & 1) || s != seq);
#endif
    assert(p == q);
    pthread_join(a, 0);
    return 0;
}
