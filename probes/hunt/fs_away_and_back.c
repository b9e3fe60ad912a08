//~ about: a name is gone for a moment
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
    rename("config", "config.new");
    rename("config.new", "config");
#else
    close(open("config.new", O_CREAT | O_WRONLY, 0600));
    rename("config.new", "config");
#endif
    return 0;
}
static void *second(void *arg)
{
    (void)arg;
    int fd = open("config", O_RDONLY);
    assert(fd >= 0);
    return 0;
}
int main(void)
{
    close(open("config", O_CREAT | O_WRONLY, 0600));
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
