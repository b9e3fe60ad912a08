//~ about: main returns while a detached thread uses a local variable of main
//~ revisions: local fixed waits
//~[local] truth: use-after-free race
//~[fixed] truth: clean
//~[waits] truth: clean
#include <pthread.h>
#include <semaphore.h>
static sem_t done;
static void *use(void *p)
{
    *(int *)p = 1;
#ifdef WAITS
    sem_post(&done);
#endif
    return 0;
}
int main(void)
{
#ifdef FIXED
    static
#endif
    int local;
    pthread_t a;
    sem_init(&done, 0, 0);
    pthread_create(&a, 0, use, &local);
    pthread_detach(a);
#ifdef WAITS
    sem_wait(&done);
#endif
    return 0;
}
