//~ about: an index that is computed as a float
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static int cell[70000];
static void *work(void *arg)
{
    float x = (float)(16777216 + (long)arg);
    cell[(long)(x - 16777216.0f)]++;
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
