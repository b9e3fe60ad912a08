//~ about: the counter of numbers is also taken back
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static int cell[70000];
static atomic_int next;
static void *work(void *arg)
{
    int my = atomic_fetch_add(&next, 1);
    if ((long)arg == 2)
        atomic_fetch_sub(&next, 1);
    else
        cell[my]++;
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
