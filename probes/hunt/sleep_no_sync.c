//~ about: a sleep in place of a join
//~ truth: race assertion
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int result;
static void *work(void *arg)
{
    result = 5;
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_detach(a);
    sleep(1);
    assert(result == 5);
    return 0;
}
