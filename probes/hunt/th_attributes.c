//~ about: names, processors, nice values and floating-point exceptions belong to a thread
//~ revisions: name processors nice exceptions rounding busy other
//~[name] truth: clean
//~[processors] truth: clean
//~[nice] truth: clean
//~[exceptions] truth: clean
//~[rounding] truth: clean
//~[busy] truth: clean
//~[other] truth: assertion misuse
//~[other] want: found
//~ flags: -lm
#define _GNU_SOURCE
#include <assert.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turns;
static void others(void) {
    pthread_mutex_lock(&mutex);
    turns++;
    pthread_mutex_unlock(&mutex);
}
static pthread_t first;
static void *work(void *argument) {
    int number = (int)(long)argument;
    (void)number;
#ifdef NAME
    char name[16], wanted[16] = "worker ";
    wanted[7] = (char)('0' + number);
    pthread_setname_np(pthread_self(), wanted);
    others();
    pthread_getname_np(pthread_self(), name, sizeof name);
    assert(strcmp(name, wanted) == 0);
#elif defined(PROCESSORS)
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(number, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0)
        return NULL;
    others();
    CPU_ZERO(&set);
    assert(sched_getaffinity(0, sizeof set, &set) == 0);
    assert(CPU_ISSET(number, &set) && CPU_COUNT(&set) == 1);
#elif defined(NICE)
    assert(setpriority(PRIO_PROCESS, 0, 5 + number) == 0);
    others();
    assert(getpriority(PRIO_PROCESS, 0) == 5 + number);
#elif defined(EXCEPTIONS)
    feclearexcept(FE_ALL_EXCEPT);
    others();
    if (number == 0) {
        volatile long double zero = 0, result = 1 / zero;
        (void)result;
    }
    others();
    assert((fetestexcept(FE_DIVBYZERO) != 0) == (number == 0));
#elif defined(ROUNDING)
    assert(fegetround() == FE_UPWARD);
    others();
#elif defined(BUSY)
    struct timespec before, after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    others();
    sleep(3);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    assert(after.tv_sec - before.tv_sec <= 1);
#elif defined(OTHER)
    if (number == 1) {
        pthread_setname_np(first, "renamed");
    } else {
        char name[16];
        pthread_setname_np(pthread_self(), "own");
        pthread_getname_np(pthread_self(), name, sizeof name);
        assert(strcmp(name, "own") == 0);
    }
#endif
    return NULL;
}
int main(void) {
    pthread_t a, b;
    fesetround(FE_UPWARD);
    pthread_create(&first, NULL, work, (void *)0);
    a = first;
    pthread_create(&b, NULL, work, (void *)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
