//~ about: a detached thread hands its result over by a semaphore, and main returns meanwhile
//~ truth: clean
#include <pthread.h>
#include <semaphore.h>
static sem_t done;
static int result;
static void *work(void *arg)
{
    result = 1;
    sem_post(&done);
    return arg;
}
int main(void)
{
    pthread_t a;
    sem_init(&done, 0, 0);
    pthread_create(&a, 0, work, 0);
    pthread_detach(a);
    sem_wait(&done);
    return result - 1;
}
