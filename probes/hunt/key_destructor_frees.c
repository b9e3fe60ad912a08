//~ about: what a thread keeps under a key is freed at its end, and another thread still has it
//~ revisions: bug fixed
//~[bug] truth: use-after-free race
//~[fixed] truth: clean
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static pthread_key_t key;
static int *shared;
static sem_t ready;
static void *work(void *arg)
{
    int *p = malloc(sizeof *p);
    *p = 5;
    pthread_setspecific(key, p);
    shared = p;
    sem_post(&ready);
    return arg;
}
int main(void)
{
    pthread_t a;
    sem_init(&ready, 0, 0);
#ifdef BUG
    pthread_key_create(&key, free);
#else
    pthread_key_create(&key, 0);
#endif
    pthread_create(&a, 0, work, 0);
    sem_wait(&ready);
    volatile int v = *shared;
    (void)v;
    pthread_join(a, 0);
#ifdef FIXED
    free(shared);
#endif
    return 0;
}
