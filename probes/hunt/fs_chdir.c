//~ about: the working directory is one for the process
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static void *look(void *arg)
{
    const char *dir = arg ? "/etc" : "/proc", *file = arg ? "passwd" : "uptime";
#ifdef BUG
    chdir(dir);
    int fd = open(file, O_RDONLY);
#else
    int d = open(dir, O_RDONLY | O_DIRECTORY);
    int fd = openat(d, file, O_RDONLY);
    close(d);
#endif
    assert(fd >= 0);
    close(fd);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, look, (void *)0);
    pthread_create(&b, 0, look, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
