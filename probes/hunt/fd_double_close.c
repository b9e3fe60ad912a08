//~ about: closed twice: the second time it is what another thread has opened meanwhile
//~[bug] cross: no
//~ revisions: bug fixed
//~[bug] truth: assertion race
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static void *closer(void *arg)
{
    int fd = open("/dev/null", O_WRONLY);
    close(fd);
#ifdef BUG
    close(fd);
#endif
    return arg;
}
static void *writer(void *arg)
{
    int fd = open("/dev/null", O_WRONLY);
    assert(write(fd, "x", 1) == 1);
    assert(close(fd) == 0);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, closer, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
