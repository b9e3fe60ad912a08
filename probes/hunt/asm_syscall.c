//~ about: the syscall instruction instead of the C library: a file as the shared counter
//~ truth: assertion
//~ preemptions: 1
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static int fd;
static long call(long nr, long a, long b, long c, long d)
{
    long r;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return r;
}
static void *add(void *arg)
{
    int v = 0;
    call(SYS_pread64, fd, (long)&v, sizeof v, 0);
    v++;
    call(SYS_pwrite64, fd, (long)&v, sizeof v, 0);
    return arg;
}
int main(void)
{
    int v = 0;
    fd = memfd_create("n", 0);
    pwrite(fd, &v, sizeof v, 0);
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pread(fd, &v, sizeof v, 0);
    assert(v == 2);
    return 0;
}
