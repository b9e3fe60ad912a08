//~ about: a number of one bit for three threads
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static int cell[70000];
struct id { unsigned bit : 1; };
static void *work(void *arg)
{
    struct id i;
    i.bit = (unsigned)(long)arg;
    cell[i.bit]++;
    return arg;
}
int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
