//~ about: the value of a semaphore is read, and then it is taken
//~ truth: assertion
//~ preemptions: 1
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static void *take(void *arg)
{
    int v;
    sem_getvalue(&s, &v);
    if (v > 0)
        assert(sem_trywait(&s) == 0);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    sem_init(&s, 0, 1);
    pthread_create(&a, 0, take, 0);
    pthread_create(&b, 0, take, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
