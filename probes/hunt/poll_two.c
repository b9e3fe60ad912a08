//~ about: two threads poll each other's flags, asleep in between
//~ truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int flag[2];
static int data[2];
static void *work(void *arg)
{
    long i = (long)arg;
    data[i] = 1;
    flag[i] = 1;
    while (!flag[1 - i])
        usleep(100);
    volatile int other = data[1 - i];
    (void)other;
    return 0;
}
int main(void)
{
    pthread_t a, b;
    flag[0] = flag[1] = 0;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
