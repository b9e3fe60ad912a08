//~ about: umask is one for the process
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
static void *open_wide(void *arg)
{
#ifdef BUG
    mode_t old = umask(0);
    umask(old);
#endif
    return arg;
}
int main(void)
{
    umask(022);
    char name[] = "./umaskXXXXXX";
    int t = mkstemp(name);
    close(t);
    unlink(name);
    pthread_t a;
    pthread_create(&a, 0, open_wide, 0);
    int fd = open(name, O_CREAT | O_RDWR, 0666);
    struct stat s;
    fstat(fd, &s);
    pthread_join(a, 0);
    unlink(name);
    assert((s.st_mode & 0777) == 0644);
    return 0;
}
