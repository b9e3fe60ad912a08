//~ about: a file is empty for a moment while it is written again
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
    int fd = open("config", O_WRONLY | O_TRUNC);
#else
    int fd = open("config.new", O_CREAT | O_WRONLY, 0600);
#endif
    write(fd, "new", 3);
    close(fd);
#ifndef BUG
    rename("config.new", "config");
#endif
    return 0;
}
static void *second(void *arg)
{
    (void)arg;
    char text[4];
    int fd = open("config", O_RDONLY);
    assert(read(fd, text, 3) == 3);
    return 0;
}
int main(void)
{
    int fd = open("config", O_CREAT | O_WRONLY, 0600);
    write(fd, "old", 3);
    close(fd);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
