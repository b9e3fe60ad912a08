//~ about: gives up waiting after many rounds, which is no time at all to a thread that does not run
//~ truth: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static void *set(void *arg)
{
    flag = 1;
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, set, 0);
    int rounds = 0;
    while (!flag && rounds < 400000)
        rounds++;
    assert(flag);
    pthread_join(a, 0);
    return 0;
}
