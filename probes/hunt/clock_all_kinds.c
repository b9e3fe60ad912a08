//~ about: every clock has gone on by a second after a sleep of a second
//~ truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long long ns(clockid_t c)
{
    struct timespec t;
    clock_gettime(c, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static const clockid_t kinds[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, CLOCK_TAI,
                                  CLOCK_MONOTONIC_COARSE, CLOCK_REALTIME_COARSE};
static void *work(void *arg)
{
    enum { N = sizeof kinds / sizeof *kinds };
    long long before[N];
    struct timeval t, u;
    struct timespec s, e;
    for (int i = 0; i < N; i++)
        before[i] = ns(kinds[i]);
    gettimeofday(&t, 0);
    timespec_get(&s, TIME_UTC);
    time_t w = time(0);
    sleep(1);
    for (int i = 0; i < N; i++)
        assert(ns(kinds[i]) - before[i] >= 900000000LL);
    gettimeofday(&u, 0);
    timespec_get(&e, TIME_UTC);
    assert(u.tv_sec * 1000000LL + u.tv_usec - t.tv_sec * 1000000LL - t.tv_usec >= 900000);
    assert(e.tv_sec * 1000LL + e.tv_nsec / 1000000 - s.tv_sec * 1000LL - s.tv_nsec / 1000000 >= 900);
    assert(time(0) >= w + 1);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
