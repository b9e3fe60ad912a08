//~ about: the linker replaces a weak function of the program by one without instrumentation
//~ with: foreign/replaced.c gcc-object
//~ truth: race
//~ must-not: proved
//~ want: no-claim
//~ cross: no
#include <pthread.h>
int number;
__attribute__((weak)) int change(void)
{
    return 0;
}
static void *work(void *arg)
{
    change();
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
