//~ about: operations that fail, or that return only what they have found, are points like any other
//~ revisions: try timed name ended
//~ truth: assertion
//~[ended] truth: clean
//~ preemptions: 1
//~ want: found
//~[ended] want: proved
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <time.h>
static const struct timespec past;
static void *end(void *arg)
{
#ifdef NAME
    sem_unlink(arg);
#endif
    return arg;
}
/* What fails first succeeds later, or the other way round. */
int main(void)
{
    pthread_t thread;
    static char name[] = "/point_without_record";
#ifdef NAME
    sem_unlink(name);
    assert(sem_open(name, O_CREAT, 0600, 1) != SEM_FAILED);
#endif
    pthread_create(&thread, NULL, end, name);
#if defined TRY
    if (pthread_tryjoin_np(thread, NULL) == 0)
        return 0;
    assert(pthread_tryjoin_np(thread, NULL) != 0);
#elif defined TIMED
    if (pthread_timedjoin_np(thread, NULL, &past) == 0)
        return 0;
    assert(pthread_timedjoin_np(thread, NULL, &past) != 0);
#elif defined NAME
    sem_t *first = sem_open(name, 0), *second = sem_open(name, 0);
    assert(first == SEM_FAILED || second != SEM_FAILED);
#else
    int tried = pthread_tryjoin_np(thread, NULL);
    assert(tried == 0 || tried == 16);
    if (tried == 0)
        return 0;
#endif
    pthread_join(thread, NULL);
    return 0;
}
