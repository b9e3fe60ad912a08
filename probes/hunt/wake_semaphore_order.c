//~ about: sem_post wakes any of those who wait, or one who comes by
//~ truth: assertion
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static sem_t s;
static atomic_int arrived, served;
static void *client(void *arg)
{
    int my = arrived++;
    sem_wait(&s);
    assert(served++ == my);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    sem_init(&s, 0, 0);
    pthread_create(&a, 0, client, 0);
    pthread_create(&b, 0, client, 0);
    sem_post(&s);
    sem_post(&s);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
