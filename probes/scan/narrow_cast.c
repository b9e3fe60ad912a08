//~ about: a number that is cast to a smaller type
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static int cell[70000];
static void *work(void *arg)
{
    cell[(uint8_t)((long)arg * 128)]++;
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
