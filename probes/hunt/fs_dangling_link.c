//~ about: makes a file through a link that leads nowhere yet
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
static void *first(void *arg)
{
    (void)arg;
    close(open("link", O_CREAT | O_WRONLY, 0600));
    return 0;
}
static void *second(void *arg)
{
    (void)arg;
#ifdef BUG
    assert(access("file", F_OK) != 0);
#else
    access("file", F_OK);
#endif
    return 0;
}
int main(void)
{
    assert(symlink("file", "link") == 0);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
