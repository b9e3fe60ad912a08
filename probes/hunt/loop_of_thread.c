//~ about: an in-process loop that another thread than main runs
//~ truth: any
//~ may: refuse
//~ must-not: proved
#include <assert.h>
#include <pthread.h>
#include <racehunter.h>
#include <stdatomic.h>
static atomic_int count;
static void begin(void)
{
    count = 0;
}
static void *adds(void *unused)
{
    int seen = count;
    count = seen + 1;
    return unused;
}
static void test(void)
{
    pthread_t one;
    pthread_create(&one, 0, adds, 0);
    adds(0);
    pthread_join(one, 0);
    assert(count == 2);
}
static void *runs(void *unused)
{
    racehunter_loop(test, begin);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, runs, 0);
    pthread_join(thread, 0);
    return 0;
}
