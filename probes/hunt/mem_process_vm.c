//~ about: a variable changed by process_vm_writev, and by a thread that uses it
//~ truth: assertion
//~ preemptions: 1
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>
static atomic_int n;
static void *reset(void *arg)
{
    int zero = 0;
    struct iovec from = {&zero, sizeof zero}, to = {&n, sizeof zero};
    process_vm_writev(getpid(), &from, 1, &to, 1, 0);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, reset, 0);
    n = 5;
    int seen = n;
    pthread_join(a, 0);
    assert(seen == 5);
    return 0;
}
