//~ about: one thread has to run for long in the middle of another one's section
//~ truth: assertion
//~ preemptions: 1
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int open_;
static volatile int work[64];
static void *look(void *arg)
{
    for (int i = 0; i < 300000; i++)
        work[i & 63] = i;
    assert(!open_);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, look, 0);
    open_ = 1;
    open_ = 0;
    pthread_join(a, 0);
    return 0;
}
