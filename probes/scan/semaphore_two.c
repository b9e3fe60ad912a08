//~ about: a semaphore that begins with two lets two in
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
int main(void)
{
    pthread_t a, b;
#ifdef BUG
    sem_init(&s, 0, 2);
#else
    sem_init(&s, 0, 1);
#endif
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
