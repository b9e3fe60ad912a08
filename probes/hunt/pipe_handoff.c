//~ about: what was written before a byte went into the pipe is there after it came out
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static int p[2];
static atomic_int data;
static void *give(void *arg)
{
    data = 42;
    write(p[1], "x", 1);
    return arg;
}
int main(void)
{
    char c;
    pipe(p);
    pthread_t a;
    pthread_create(&a, 0, give, 0);
    assert(read(p[0], &c, 1) == 1 && data == 42);
    pthread_join(a, 0);
    return 0;
}
