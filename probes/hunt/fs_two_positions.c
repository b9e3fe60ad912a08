//~ about: two descriptors of one open file move each other
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
static int one, other;
static void *first(void *arg)
{
    (void)arg;
    char c = 0;
    read(one, &c, 1);
    return 0;
}
static void *second(void *arg)
{
    (void)arg;
    char c = 0;
    read(other, &c, 1);
    assert(c == 'a');
    return 0;
}
int main(void)
{
    int fd = open("text", O_CREAT | O_WRONLY, 0600);
    write(fd, "abc", 3);
    close(fd);
    one = open("text", O_RDONLY);
    #ifdef BUG
    other = dup(one);
    #else
    other = open("text", O_RDONLY);
    #endif
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
