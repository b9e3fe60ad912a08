//~ about: numbers of 16 bits come again
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static int cell[70000];
static _Atomic uint16_t next;
static void *work(void *arg)
{
    for (int k = 0; k < 30000; k++)
        cell[atomic_fetch_add(&next, 1)]++;
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
