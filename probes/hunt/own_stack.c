//~ about: the stack that the program gave to a thread is used for something else while the thread runs
//~ revisions: freed written kept
//~ truth: crash deadlock assertion use-after-free race
//~[kept] truth: clean
//~ must-not: proved
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
static sem_t runs, done;
enum { SIZE = 256 * 1024 };
static void *work(void *arg)
{
    volatile int own[16] = {0};
    sem_post(&runs);
    sem_wait(&done);
    own[0] = 1;
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    char *stack = malloc(SIZE);
    sem_init(&runs, 0, 0);
    sem_init(&done, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, SIZE);
    pthread_create(&thread, &attributes, work, NULL);
    sem_wait(&runs);
#if defined FREED
    free(stack);
#elif defined WRITTEN
    stack[SIZE - 8192] = 1;
#endif
    sem_post(&done);
    pthread_join(thread, NULL);
    return 0;
}
