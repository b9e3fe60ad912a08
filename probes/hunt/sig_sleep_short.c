//~ about: a sleep that a signal ends early, taken for a long one
//~ truth: assertion
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int done;
static void handler(int s) { }
static void *work(void *arg)
{
    usleep(1000);
    done = 1;
    return arg;
}
int main(void)
{
    signal(SIGALRM, handler);
    ualarm(500, 0);
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    sleep(1);
    assert(done);
    pthread_join(a, 0);
    return 0;
}
