//~ about: a loop by longjmp
//~ truth: race
#include <pthread.h>
#include <setjmp.h>
static int n;
static jmp_buf again;
static void *work(void *arg)
{
    n++;
    return arg;
}
int main(void)
{
    volatile int rounds = 0;
    pthread_t t;
    setjmp(again);
    pthread_create(&t, 0, work, 0);
    pthread_detach(t);
    if (++rounds < 2)
        longjmp(again, 1);
    pthread_exit(0);
}
