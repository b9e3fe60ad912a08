//~ about: the same file by two names
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
static void *add(const char *name)
{
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    int fd = open(name, O_RDWR);
    store(fd, number(fd) + 1);
    close(fd);
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    return 0;
}
static void *first(void *arg)
{
    (void)arg;
    return add("one");
}
static void *second(void *arg)
{
    (void)arg;
    return add("other");
}
int main(void)
{
    close(open("one", O_CREAT | O_WRONLY, 0600));
    assert(link("one", "other") == 0);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int fd = open("one", O_RDONLY);
    assert(number(fd) == 2);
    return 0;
}
