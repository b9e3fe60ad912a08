//~ about: six megabytes of stack in a thread, and sixty in one that asked for them
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <string.h>
static long deep(int k)
{
    volatile char fill[1 << 16];
    fill[0] = (char)k;
    fill[sizeof fill - 1] = (char)k;
    return k == 0 ? fill[0] : deep(k - 1) + fill[sizeof fill - 1] - (char)k;
}
static void *work(void *arg)
{
    assert(deep((int)(long)arg) == 0);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_attr_t t;
    pthread_attr_init(&t);
    pthread_attr_setstacksize(&t, 80u << 20);
    pthread_create(&a, 0, work, (void *)96);
    pthread_create(&b, &t, work, (void *)960);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
