//~ about: a thread posts the semaphore without having it
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static int n;
static void *work(void *arg)
{
    sem_wait(&s);
    n++;
    sem_post(&s);
    return arg;
}
static void *rogue(void *arg)
{
#ifdef BUG
    sem_post(&s);
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b, c;
    sem_init(&s, 0, 1);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_create(&c, 0, rogue, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
