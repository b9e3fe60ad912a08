//~ about: leaves named shared memory that no second run could bear
//~ truth: clean
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
#include <sys/mman.h>
static void *first(void *arg)
{
    return arg;
}
static void *second(void *arg)
{
    return arg;
}
int main(void)
{
    int fd = shm_open("/racehunter-probe-left", O_CREAT | O_EXCL | O_RDWR, 0600);
    assert(fd >= 0);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
