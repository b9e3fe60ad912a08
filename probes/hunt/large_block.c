//~ about: a block of a gigabyte that is hardly touched, freed, and perhaps used by another thread after that
//~ revisions: freed used untouched
//~[freed] truth: clean
//~[used] truth: use-after-free crash race
//~[untouched] truth: use-after-free crash race
//~[freed] want: proved
//~[used] want: found
//~[untouched] want: found
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static char *block;
static sem_t ready;
enum { SIZE = 1 << 30 };
static void *work(void *arg)
{
    block = malloc(SIZE);
    block[SIZE / 2] = 1;
    free(block);
    sem_post(&ready);
    return arg;
}
int main(void)
{
    pthread_t thread;
    sem_init(&ready, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    sem_wait(&ready);
#if defined USED
    block[SIZE / 2] = 2;
#elif defined UNTOUCHED
    block[SIZE / 4] = 2;
#endif
    pthread_join(thread, NULL);
    return 0;
}
