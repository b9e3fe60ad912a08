//~ about: a semaphore around a counter, with one unit and with two
//~ revisions: one two
//~[one] truth: clean
//~[two] truth: race
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
#ifdef ONE
    sem_init(&s, 0, 1);
#else
    sem_init(&s, 0, 2);
#endif
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
