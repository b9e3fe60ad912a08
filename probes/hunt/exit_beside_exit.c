//~ about: _exit in one thread while another one runs its atexit functions: the status depends on the schedule
//~ revisions: differs same
//~[differs] truth: exit-status
//~[same] truth: clean
//~[differs] want: found
//~[same] want: proved
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
static sem_t ending, waits;
static void at_end(void)
{
    sem_post(&ending);
    sem_wait(&waits);
}
static void *work(void *arg)
{
    sem_wait(&ending);
#ifdef DIFFERS
    _exit(7);
#else
    _exit(0);
#endif
    return arg;
}
int main(void)
{
    pthread_t thread;
    sem_init(&ending, 0, 0);
    sem_init(&waits, 0, 0);
    atexit(at_end);
    pthread_create(&thread, NULL, work, NULL);
    exit(0);
}
