//~ about: a semaphore for each thread
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <semaphore.h>
static sem_t s[2];
static int n;
static void *work(void *arg)
{
    sem_t *mine = &s[(long)arg];
    sem_wait(mine);
    n++;
    sem_post(mine);
    return 0;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        sem_init(&s[i], 0, 1);
    for (long i = 0; i < 2; i++) {
#ifdef BUG
        pthread_create(&t[i], 0, work, (void *)i);
#else
        pthread_create(&t[i], 0, work, 0);
#endif
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
