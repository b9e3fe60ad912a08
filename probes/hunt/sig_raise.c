//~ about: a handler that the thread calls itself is no surprise
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>
static __thread int mine;
static void handler(int s) { mine++; }
static void *work(void *arg)
{
    mine = 1;
    raise(SIGUSR1);
    assert(mine == 2);
    return arg;
}
int main(void)
{
    signal(SIGUSR1, handler);
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
