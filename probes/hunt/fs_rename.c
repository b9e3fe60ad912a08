//~ about: both write a temporary file and rename it; it has the same name
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static char dir[] = "./renameXXXXXX";
static void *save(void *arg)
{
    char tmp[64], final[64];
#ifdef BUG
    sprintf(tmp, "%s/tmp", dir);
#else
    sprintf(tmp, "%s/tmp%ld", dir, (long)arg);
#endif
    sprintf(final, "%s/final%ld", dir, (long)arg);
    int fd = open(tmp, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    write(fd, "x", 1);
    close(fd);
    assert(rename(tmp, final) == 0);
    unlink(final);
    return 0;
}
int main(void)
{
    mkdtemp(dir);
    pthread_t a, b;
    pthread_create(&a, 0, save, (void *)0);
    pthread_create(&b, 0, save, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    rmdir(dir);
    return 0;
}
