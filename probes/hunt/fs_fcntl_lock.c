//~ about: record locks belong to the process and do not keep its threads apart; those of open file descriptions do
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static char name[] = "./recordXXXXXX";
static atomic_int n;
#ifdef BUG
enum { WAIT = F_SETLKW };
#else
enum { WAIT = F_OFD_SETLKW };
#endif
static void *add(void *arg)
{
    int fd = open(name, O_RDWR);
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(fd, WAIT, &l);
    int v = n;
    n = v + 1;
    l.l_type = F_UNLCK;
    fcntl(fd, WAIT, &l);
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
    unlink(name);
    assert(n == 2);
    return 0;
}
