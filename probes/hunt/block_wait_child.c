//~ about: a thread waits for a child that another one ends
//~ truth: clean
//~ want: no-claim
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
static pid_t child;
static void *end(void *arg)
{
    kill(child, SIGKILL);
    return arg;
}
int main(void)
{
    int status;
    pthread_t a;
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    pthread_create(&a, 0, end, 0);
    assert(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    pthread_join(a, 0);
    return 0;
}
