//~ about: one thread uses the mapping of a file, the other one writes the file
//~ truth: assertion
//~ preemptions: 1
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>
static atomic_int *n;
static int fd;
static void *add(void *arg)
{
    int v = 0;
    pread(fd, &v, sizeof v, 0);
    v++;
    pwrite(fd, &v, sizeof v, 0);
    return arg;
}
int main(void)
{
    fd = memfd_create("page", 0);
    ftruncate(fd, 4096);
    n = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pthread_t a;
    pthread_create(&a, 0, add, 0);
    atomic_fetch_add(n, 1);
    pthread_join(a, 0);
    assert(*n == 2);
    return 0;
}
