//~ about: a large local variable of an ended thread, far down its stack
//~ revisions: late ok
//~[late] truth: use-after-free race crash
//~[ok] truth: clean
#include <pthread.h>
#include <semaphore.h>
static sem_t given, used;
static char *given_away;
static void *owner(void *arg)
{
    char large[600000];
    large[0] = 1;
    given_away = large;
    sem_post(&given);
#ifdef OK
    sem_wait(&used);
#endif
    return arg;
}
static void *user(void *arg)
{
    sem_wait(&given);
    given_away[0]++;
    sem_post(&used);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    sem_init(&given, 0, 0);
    sem_init(&used, 0, 0);
    pthread_create(&a, 0, owner, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
