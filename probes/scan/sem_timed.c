//~ about: a wait with a limit that has passed
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
static sem_t s;
static int x;
static void *give(void *arg)
{
    x = 1;
    sem_post(&s);
    return arg;
}
int main(void)
{
    pthread_t a;
    struct timespec t = {1, 0};
    sem_init(&s, 0, 0);
    pthread_create(&a, 0, give, 0);
#ifdef BUG
    sem_timedwait(&s, &t);
    x = 2;
#else
    if (sem_timedwait(&s, &t) == 0)
        x = 2;
#endif
    pthread_join(a, 0);
    return 0;
}
