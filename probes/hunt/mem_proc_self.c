//~ about: a variable changed through /proc/self/mem
//~ truth: assertion
//~ preemptions: 1
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int n;
static int mem;
static void *add(void *arg)
{
    int v = 0;
    pread(mem, &v, sizeof v, (off_t)&n);
    v++;
    pwrite(mem, &v, sizeof v, (off_t)&n);
    return arg;
}
int main(void)
{
    mem = open("/proc/self/mem", O_RDWR);
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
