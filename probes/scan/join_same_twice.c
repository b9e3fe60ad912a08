//~ about: one handle is put into the array twice
//~ truth: race
#include <pthread.h>
static int cell[3];
static void *work(void *arg)
{
    cell[(long)arg] = 1;
    return 0;
}
int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i == 2 ? 1 : i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    for (int i = 0; i < 3; i++)
        cell[i] = 2;
    return 0;
}
