//~ about: the longer sleep ends later, and that is no order
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int done;
static void *work(void *arg)
{
    usleep(1000);
    done = 1;
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
#ifdef BUG
    sleep(2);
    assert(done);
    pthread_join(a, 0);
#else
    pthread_join(a, 0);
    sleep(2);
    assert(done);
#endif
    return 0;
}
