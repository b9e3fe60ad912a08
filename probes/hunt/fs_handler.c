//~ about: a signal handler removes what the program is about to use
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[fixed] truth: clean
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <signal.h>
static void gone(int signal)
{
    (void)signal;
    unlink("data");
}
static void *killer(void *arg)
{
    (void)arg;
    kill(getpid(), SIGUSR1);
    return 0;
}
int main(void)
{
    close(open("data", O_CREAT | O_WRONLY, 0600));
    signal(SIGUSR1, gone);
    pthread_t t;
    pthread_create(&t, 0, killer, 0);
    if (access("data", F_OK) == 0) {
        int fd = open("data", O_RDONLY);
#ifdef BUG
        assert(fd >= 0);
#else
        (void)fd;
#endif
    }
    pthread_join(t, 0);
    return 0;
}
