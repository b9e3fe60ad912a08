//~ about: who has opened a file before it is changed sees the change
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
static int early;
static void *first(void *arg)
{
    (void)arg;
    int fd = open("probe.text", O_WRONLY);
    assert(fd >= 0 && write(fd, "new", 3) == 3);
    return 0;
}
static void *second(void *arg)
{
    char text[4] = "";
    (void)arg;
    assert(pread(early, text, 3, 0) == 3 && (!strcmp(text, "new") || !strcmp(text, "old")));
    return 0;
}
int main(void)
{
    int fd = open("probe.text", O_CREAT | O_WRONLY | O_TRUNC, 0600);
    assert(write(fd, "old", 3) == 3);
    close(fd);
    early = open("probe.text", O_RDONLY);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    char text[4] = "";
    assert(read(early, text, 3) == 3 && !strcmp(text, "new"));
    return 0;
}
