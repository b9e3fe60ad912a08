//~ about: threads on stacks that the program gives them, one after the other on the same
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static int n;
static void *work(void *arg)
{
    volatile char fill[20000];
    for (unsigned i = 0; i < sizeof fill; i++)
        fill[i] = (char)i;
    n++;
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_attr_t t;
    void *stack = aligned_alloc(4096, 1 << 18);
    pthread_attr_init(&t);
    assert(pthread_attr_setstack(&t, stack, 1 << 18) == 0);
    for (int i = 0; i < 2; i++) {
        assert(pthread_create(&a, &t, work, 0) == 0);
        pthread_join(a, 0);
    }
    ((volatile char *)stack)[100] = 1;
    free(stack);
    assert(n == 2);
    return 0;
}
