//~ about: time by one clock, and a wait until then by another: the time has passed
//~ truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}
static void *work(void *arg)
{
    sem_t s;
    struct timespec t;
    sem_init(&s, 0, 0);
    long long begin = now();
    poll(0, 0, 50);
    assert(now() - begin >= 49);
    begin = now();
    struct timeval v = {0, 50000};
    select(0, 0, 0, 0, &v);
    assert(now() - begin >= 49);
    begin = now();
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 50000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    assert(sem_timedwait(&s, &t) == -1 && errno == ETIMEDOUT);
    assert(now() - begin >= 49);
    begin = now();
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += 1;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0);
    assert(now() - begin >= 999);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
