//~ about: the address of a thread's own variable, used after its end or before
//~ revisions: bug fixed
//~[bug] truth: use-after-free crash
//~[fixed] truth: clean
#include <pthread.h>
#include <semaphore.h>
static __thread int mine;
static int *where;
static sem_t ready, done;
static void *owner(void *arg)
{
    mine = 7;
    where = &mine;
    sem_post(&ready);
#ifdef FIXED
    sem_wait(&done);
#endif
    return arg;
}
int main(void)
{
    pthread_t a;
    sem_init(&ready, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&a, 0, owner, 0);
    sem_wait(&ready);
    volatile int v = *where;
    (void)v;
    sem_post(&done);
    pthread_join(a, 0);
    return 0;
}
