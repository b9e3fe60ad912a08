//~ about: looks whether a lock file is there, then makes it
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
static atomic_int owners;
static void *enter(void *arg)
{
    (void)arg;
#ifdef BUG
    if (access("owner", F_OK) == 0)
        return 0;
    int fd = open("owner", O_CREAT | O_WRONLY, 0600);
#else
    int fd = open("owner", O_CREAT | O_EXCL | O_WRONLY, 0600);
#endif
    if (fd >= 0)
        owners++;
    return 0;
}
#define first enter
#define second enter
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(owners == 1);
    return 0;
}
