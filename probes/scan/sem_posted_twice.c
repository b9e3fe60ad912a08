//~ about: the semaphore is raised before and after; one wait does not know for the second
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static int x;
static void *give(void *arg)
{
    sem_post(&s);
    x = 1;
    sem_post(&s);
    return arg;
}
int main(void)
{
    pthread_t a;
    sem_init(&s, 0, 0);
    pthread_create(&a, 0, give, 0);
    sem_wait(&s);
#ifdef FIXED
    sem_wait(&s);
#endif
    x = 2;
    pthread_join(a, 0);
    return 0;
}
