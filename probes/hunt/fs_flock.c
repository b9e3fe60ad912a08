//~ about: flock excludes other open file descriptions; a shared one excludes no thread
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
static char name[] = "./flockXXXXXX";
static atomic_int n;
static int shared;
static void *add(void *arg)
{
#ifdef BUG
    int fd = shared;
#else
    int fd = open(name, O_RDWR);
#endif
    flock(fd, LOCK_EX);
    int v = n;
    n = v + 1;
    flock(fd, LOCK_UN);
    return arg;
}
int main(void)
{
    shared = mkstemp(name);
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unlink(name);
    assert(n == 2);
    return 0;
}
