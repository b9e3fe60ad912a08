//~ about: a handler that changes errno between a call and the check of it
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[fixed] truth: clean
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void handler(int s)
{
#ifdef FIXED
    int saved = errno;
#endif
    chdir("/nonexistent");
#ifdef FIXED
    errno = saved;
#endif
}
static void *work(void *arg)
{
    int r = close(-1);
    assert(r == -1 && errno == EBADF);
    return arg;
}
int main(void)
{
    pthread_t a;
    signal(SIGUSR1, handler);
    pthread_create(&a, 0, work, 0);
    pthread_kill(a, SIGUSR1);
    pthread_join(a, 0);
    return 0;
}
