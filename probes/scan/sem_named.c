//~ about: a named semaphore may be there already, with another value
//~ truth: race
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t *s;
static int n;
static void *work(void *arg)
{
    sem_wait(s);
    n++;
    sem_post(s);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    s = sem_open("/probe-semaphore", O_CREAT, 0600, 1);
    if (s == SEM_FAILED)
        return 1;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
