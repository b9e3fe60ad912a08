//~ about: memory of alloca that a thread uses after the function that had it has returned
//~ revisions: late joined
//~[late] truth: race use-after-free
//~[joined] truth: clean
#include <alloca.h>
#include <pthread.h>
#include <string.h>
static pthread_t t;
static int sum;
static void *use(void *p)
{
    int *block = p;
    for (int i = 0; i < 8; i++)
        sum += block[i];
    return 0;
}
__attribute__((noinline)) static void begin(int n)
{
    int *block = alloca(n * sizeof *block);
    memset(block, 1, n * sizeof *block);
    pthread_create(&t, 0, use, block);
#ifdef JOINED
    pthread_join(t, 0);
#endif
}
__attribute__((noinline)) static int overwrite(int n)
{
    volatile int room[64];
    for (int i = 0; i < 64; i++)
        room[i] = n;
    return room[n & 63];
}
int main(void)
{
    begin(32);
    int got = overwrite(3);
#ifdef LATE
    pthread_join(t, 0);
#endif
    return got - 3;
}
