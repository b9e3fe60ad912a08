//~ about: a counter of readers, the last of whom lets the writer in, by semaphores
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t room;
static int readers, data;
static void *reader(void *arg)
{
    pthread_mutex_lock(&m);
    if (readers++ == 0)
        sem_wait(&room);
    pthread_mutex_unlock(&m);
    int d = data;
    assert(d == 0 || d == 2);
    pthread_mutex_lock(&m);
    if (--readers == 0)
        sem_post(&room);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    sem_init(&room, 0, 1);
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, reader, 0);
    sem_wait(&room);
    data = 1;
    data = 2;
    sem_post(&room);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
