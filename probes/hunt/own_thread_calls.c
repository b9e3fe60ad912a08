//~ about: what a thread may ask and set about itself works in every thread
//~ truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static void *work(void *arg)
{
    char name[16];
    cpu_set_t c;
    int policy;
    clockid_t clock;
    struct sched_param p;
    struct timespec t;
    pthread_t me = pthread_self();
    assert(pthread_setname_np(me, "probe") == 0);
    assert(pthread_getname_np(me, name, sizeof name) == 0 && !strcmp(name, "probe"));
    assert(pthread_getaffinity_np(me, sizeof c, &c) == 0 && CPU_COUNT(&c) > 0);
    assert(pthread_getschedparam(me, &policy, &p) == 0);
    assert(pthread_setschedparam(me, policy, &p) == 0);
    assert(pthread_getcpuclockid(me, &clock) == 0 && clock_gettime(clock, &t) == 0);
    assert(pthread_kill(me, 0) == 0);
    assert(sched_getcpu() >= 0);
    assert(gettid() > 0);
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
