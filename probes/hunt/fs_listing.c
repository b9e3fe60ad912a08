//~ about: counts the files of a directory while another one is made
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
#include <dirent.h>
static int count(void)
{
    int files = 0;
    DIR *d = opendir("d");
    for (struct dirent *e; (e = readdir(d));)
        files += e->d_name[0] != '.';
    closedir(d);
    return files;
}
static void *first(void *arg)
{
    (void)arg;
    close(open("d/one", O_CREAT | O_WRONLY, 0600));
    return 0;
}
static void *second(void *arg)
{
    (void)arg;
#ifdef BUG
    assert(count() == 0);
#else
    assert(count() <= 1);
#endif
    return 0;
}
int main(void)
{
    mkdir("d", 0700);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
