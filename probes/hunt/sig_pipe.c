//~ about: a thread writes to a pipe or socket whose other end another thread closes: the signal ends the program
//~ revisions: pipe socket ignored
//~ truth: crash
//~[ignored] truth: clean
//~ preemptions: 1
//~ cross: no
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
static int ends[2];
static void *closes(void *arg)
{
    close(ends[0]);
    return arg;
}
int main(void)
{
    pthread_t thread;
#ifdef IGNORED
    signal(SIGPIPE, SIG_IGN);
#endif
#ifdef SOCKET
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
#else
    pipe(ends);
#endif
    pthread_create(&thread, 0, closes, 0);
    (void)!write(ends[1], "x", 1);
    pthread_join(thread, 0);
    return 0;
}
