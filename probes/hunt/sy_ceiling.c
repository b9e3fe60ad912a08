//~ about: a mutex with a priority ceiling, which the C library refuses to threads of the usual policy
//~ truth: race
//~ want: no-claim
#include <pthread.h>
static pthread_mutex_t mutex;
static int number;
static void *work(void *arg)
{
    pthread_mutex_lock(&mutex);
    number++;
    pthread_mutex_unlock(&mutex);
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT);
    pthread_mutexattr_setprioceiling(&attributes, 10);
    pthread_mutex_init(&mutex, &attributes);
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    return 0;
}
