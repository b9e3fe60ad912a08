//~ about: a directory is removed between its making and its use
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
    mkdir("d", 0700);
    int fd = open("d/f", O_CREAT | O_WRONLY, 0600);
#ifdef BUG
    assert(fd >= 0);
#else
    (void)fd;
#endif
    return 0;
}
static void *second(void *arg)
{
    (void)arg;
    rmdir("d");
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
