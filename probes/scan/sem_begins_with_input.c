//~ about: a semaphore that begins with what the program is given
//~ truth: race
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static sem_t s;
static int n;
static void *work(void *arg)
{
    sem_wait(&s);
    n++;
    sem_post(&s);
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    sem_init(&s, 0, argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
