//~ about: a detached thread makes a file that the main thread looks for
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
#include <sched.h>
static void *maker(void *arg)
{
    (void)arg;
    close(open("made", O_CREAT | O_WRONLY, 0600));
    return 0;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, maker, 0);
    pthread_detach(t);
    sched_yield();
#ifdef BUG
    assert(access("made", F_OK) != 0);
#else
    access("made", F_OK);
#endif
    return 0;
}
