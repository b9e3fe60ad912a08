//~ about: the variants of waiting that have a clock: locks, semaphores, conditions, joins
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static int x, y, z;
static struct timespec later(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += 1000;
    return t;
}
static void *work(void *arg)
{
    struct timespec t = later();
    if (pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &t) == 0) {
        x++;
        pthread_mutex_unlock(&m);
    }
    if (pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &t) == 0) {
        y++;
        pthread_rwlock_unlock(&l);
    }
#ifdef FIXED
    if (sem_clockwait(&s, CLOCK_MONOTONIC, &t) == 0) {
        z++;
        sem_post(&s);
    }
#else
    z++;
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    sem_init(&s, 0, 1);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
