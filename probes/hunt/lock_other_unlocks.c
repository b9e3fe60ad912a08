//~ about: a mutex that one thread locks and another one unlocks
//~ revisions: mutex semaphore
//~[mutex] truth: misuse
//~[semaphore] truth: clean
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t s;
static int n;
static void *unlocks(void *arg)
{
    n++;
#ifdef MUTEX
    pthread_mutex_unlock(&m);
#else
    sem_post(&s);
#endif
    return arg;
}
int main(void)
{
    pthread_t t;
    sem_init(&s, 0, 1);
#ifdef MUTEX
    pthread_mutex_lock(&m);
#else
    sem_wait(&s);
#endif
    pthread_create(&t, 0, unlocks, 0);
#ifdef MUTEX
    pthread_mutex_lock(&m);
#else
    sem_wait(&s);
#endif
    n++;
    pthread_join(t, 0);
    return 0;
}
