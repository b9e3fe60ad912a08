//~ about: find the end and write there, or O_APPEND
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static char name[] = "./appendXXXXXX";
static void *add(void *arg)
{
    struct stat s;
#ifdef BUG
    int fd = open(name, O_RDWR);
    fstat(fd, &s);
    pwrite(fd, "line\n", 5, s.st_size);
#else
    int fd = open(name, O_RDWR | O_APPEND);
    write(fd, "line\n", 5);
#endif
    close(fd);
    return arg;
}
int main(void)
{
    close(mkstemp(name));
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    struct stat s;
    stat(name, &s);
    unlink(name);
    assert(s.st_size == 10);
    return 0;
}
