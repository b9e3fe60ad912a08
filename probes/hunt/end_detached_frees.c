//~ about: main frees what a detached thread still uses
//~ revisions: early waits
//~[early] truth: use-after-free race
//~[waits] truth: clean
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static sem_t done;
static void *use(void *p)
{
    *(int *)p += 1;
    sem_post(&done);
    return 0;
}
int main(void)
{
    int *block = calloc(1, sizeof *block);
    pthread_t a;
    sem_init(&done, 0, 0);
    pthread_create(&a, 0, use, block);
    pthread_detach(a);
#ifdef WAITS
    sem_wait(&done);
#endif
    free(block);
    return 0;
}
