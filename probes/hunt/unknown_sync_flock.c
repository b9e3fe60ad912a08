//~ about: correct: flock on descriptions of its own keeps two threads apart
//~ revisions: default watchpoint free
//~[watchpoint] options: --analysis watchpoint --detector none
//~[free] options: --free-running
//~ truth: clean
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
static char name[] = "./lockXXXXXX";
static int n;
static void *add(void *arg)
{
    int fd = open(name, O_RDWR);
    flock(fd, LOCK_EX);
    n++;
    flock(fd, LOCK_UN);
    close(fd);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    close(mkstemp(name));
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unlink(name);
    return n != 2;
}
