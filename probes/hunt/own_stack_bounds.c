//~ about: a thread asks for the bounds of its stack, and its locals are within
//~ truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
static void *work(void *arg)
{
    pthread_attr_t t;
    void *low;
    size_t size;
    char here;
    assert(pthread_getattr_np(pthread_self(), &t) == 0);
    pthread_attr_getstack(&t, &low, &size);
    pthread_attr_destroy(&t);
    assert(&here >= (char *)low && &here < (char *)low + size);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
