//~ about: watchpoints look at pairs of accesses: that each was provoked proves nothing about other bugs
//~ options: --analysis watchpoint-bound --bound 6
//~ truth: assertion
//~ must-not: proved
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int first, second;
static void *work(void *arg)
{
    first = 1;
    second = 1;
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    assert(!(first == 1 && second == 0));
    pthread_join(thread, 0);
    return 0;
}
