//~ about: O_EXCL decides which of two threads makes the file
//~ truth: clean
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static char dir[] = "./exclXXXXXX";
static atomic_int winners;
static void *claim(void *arg)
{
    char name[64];
    snprintf(name, sizeof name, "%s/claim", dir);
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd >= 0) {
        winners++;
        close(fd);
    }
    return arg;
}
int main(void)
{
    pthread_t a, b;
    char name[64];
    assert(mkdtemp(dir));
    pthread_create(&a, 0, claim, 0);
    pthread_create(&b, 0, claim, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    snprintf(name, sizeof name, "%s/claim", dir);
    unlink(name);
    rmdir(dir);
    assert(winners == 1);
    return 0;
}
