//~ about: says that a file is written while it is in a buffer
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
static atomic_int written;
static void *first(void *arg)
{
    (void)arg;
    FILE *f = fopen("data", "w");
    fputs("x", f);
#ifdef BUG
    written = 1;
    fclose(f);
#else
    fclose(f);
    written = 1;
#endif
    return 0;
}
static void *second(void *arg)
{
    (void)arg;
    if (written) {
        char c = 0;
        int fd = open("data", O_RDONLY);
        assert(read(fd, &c, 1) == 1);
    }
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
