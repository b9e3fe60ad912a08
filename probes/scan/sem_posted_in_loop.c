//~ about: the semaphore is posted in a loop that continues to work
//~ truth: race
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static int x;
static void *give(void *arg)
{
    for (int i = 0; i < 2; i++) {
        x = i;
        sem_post(&s);
    }
    return arg;
}
int main(void)
{
    pthread_t a;
    sem_init(&s, 0, 0);
    pthread_create(&a, 0, give, 0);
    sem_wait(&s);
    x = 9;
    pthread_join(a, 0);
    return 0;
}
