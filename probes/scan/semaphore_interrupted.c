//~ about: sem_trywait whose result is ignored
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static int n;
static void *work(void *arg)
{
#ifdef BUG
    sem_trywait(&s);
    n++;
    sem_post(&s);
#else
    if (sem_trywait(&s) == 0) {
        n++;
        sem_post(&s);
    }
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    sem_init(&s, 0, 1);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
