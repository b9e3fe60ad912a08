//~ about: which thread takes a signal that is sent to the process is not said; the second one may go to the thread that sends it
//~ truth: assertion
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_t first;
static void handler(int number) { assert(pthread_equal(pthread_self(), first)); }
static void *work(void *p)
{
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    return p;
}
int main(void)
{
    pthread_t thread;
    first = pthread_self();
    signal(SIGUSR1, handler);
    signal(SIGUSR2, handler);
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
