//~ about: a barrier for more threads than come to it
//~ revisions: three two
//~[three] truth: deadlock
//~[two] truth: clean
#include <pthread.h>
static pthread_barrier_t b;
static int n[2], sum;
static void *work(void *arg)
{
    n[1] = 1;
    if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD)
        sum = n[0] + n[1];
    return arg;
}
int main(void)
{
    pthread_t t;
#ifdef THREE
    pthread_barrier_init(&b, 0, 3);
#else
    pthread_barrier_init(&b, 0, 2);
#endif
    pthread_create(&t, 0, work, 0);
    n[0] = 1;
    if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD)
        sum = n[0] + n[1];
    pthread_join(t, 0);
    return sum - 2;
}
