//~ about: reads and writes a counter in a file, each at an offset of its own
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
static int number(int fd)
{
    char text[16] = "";
    pread(fd, text, 15, 0);
    return atoi(text);
}
static void store(int fd, int value)
{
    char text[16];
    pwrite(fd, text, sprintf(text, "%d", value), 0);
}

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *arg)
{
    (void)arg;
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    int fd = open("counter", O_CREAT | O_RDWR, 0600);
    store(fd, number(fd) + 1);
    close(fd);
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    return 0;
}
#define first add
#define second add
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int fd = open("counter", O_RDONLY);
    assert(number(fd) == 2);
    return 0;
}
