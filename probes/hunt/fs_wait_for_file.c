//~ about: waits until a file is there, which is there too early
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
#ifdef BUG
    close(open("ready", O_CREAT | O_WRONLY, 0600));
#endif
    int fd = open("data", O_CREAT | O_WRONLY, 0600);
    write(fd, "x", 1);
    close(fd);
#ifndef BUG
    close(open("ready", O_CREAT | O_WRONLY, 0600));
#endif
    return 0;
}
static void *second(void *arg)
{
    (void)arg;
    char c;
    while (access("ready", F_OK) != 0)
        usleep(1000);
    int fd = open("data", O_RDONLY);
    assert(fd >= 0 && read(fd, &c, 1) == 1);
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
