//~ about: two looks with a nap in between, and then it must have happened
//~ truth: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
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
    for (int i = 0; i < 2 && !flag; i++)
        usleep(1000);
    assert(flag);
    pthread_join(a, 0);
    return 0;
}
