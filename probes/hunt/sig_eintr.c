//~ about: read that a signal interrupts, taken for an error
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
static int p[2];
static void handler(int s) { }
static void *reader(void *arg)
{
    char c;
    assert(read(p[0], &c, 1) == 1);
    return arg;
}
int main(void)
{
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = handler;
#ifdef FIXED
    a.sa_flags = SA_RESTART;
#endif
    sigaction(SIGUSR1, &a, 0);
    pipe(p);
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    pthread_kill(t, SIGUSR1);
    write(p[1], "x", 1);
    pthread_join(t, 0);
    return 0;
}
