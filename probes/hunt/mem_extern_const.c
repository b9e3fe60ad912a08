//~ about: what is constant to the code that reads it is not to the code that writes it
//~ truth: data-race assertion
#include <assert.h>
#include <pthread.h>
int counter;
extern const int shown __asm__("shown");
__asm__(".globl shown\n.set shown, counter");
static void *work(void *p)
{
    counter = 1;
    return p;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    const volatile int *at = &shown;
    int once = shown, twice = *at;
    assert(once == twice);
    pthread_join(thread, 0);
    return 0;
}
