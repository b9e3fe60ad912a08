//~ about: each thread has a file of its own
//~ truth: clean
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

static void *work(const char *name)
{
    int fd = open(name, O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < 3; i++)
        store(fd, number(fd) + 1);
    assert(number(fd) == 3);
    close(fd);
    unlink(name);
    return 0;
}
static void *first(void *arg)
{
    (void)arg;
    return work("one");
}
static void *second(void *arg)
{
    (void)arg;
    return work("two");
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
