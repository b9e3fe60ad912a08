//~ about: which thread gets PTHREAD_BARRIER_SERIAL_THREAD is not specified
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] unless-assumes: barrier serial
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_barrier_t bar;
static atomic_int arrived, serials;
static void *meet(void *arg)
{
    int last = atomic_fetch_add(&arrived, 1) == 1;
    int r = pthread_barrier_wait(&bar);
    if (r == PTHREAD_BARRIER_SERIAL_THREAD) {
        serials++;
#ifdef BUG
        assert(last);
#endif
    }
    (void)last;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&bar, 0, 2);
    pthread_create(&a, 0, meet, 0);
    pthread_create(&b, 0, meet, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(serials == 1);
    return 0;
}
