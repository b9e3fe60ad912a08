//~ about: open of a named pipe waits for the other end
//~ truth: clean
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static char name[64];
static void *writer(void *arg)
{
    int fd = open(name, O_WRONLY);
    assert(fd >= 0 && write(fd, "hi", 2) == 2);
    close(fd);
    return arg;
}
int main(void)
{
    char dir[] = "./fifoXXXXXX", b[3] = "";
    pthread_t a;
    assert(mkdtemp(dir));
    snprintf(name, sizeof name, "%s/f", dir);
    assert(mkfifo(name, 0600) == 0);
    pthread_create(&a, 0, writer, 0);
    int fd = open(name, O_RDONLY);
    assert(fd >= 0 && read(fd, b, 2) == 2 && b[0] == 'h');
    pthread_join(a, 0);
    unlink(name);
    rmdir(dir);
    return 0;
}
