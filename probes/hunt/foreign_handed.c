//~ about: a function without instrumentation that the program hands over and never calls itself changes what a thread changes
//~ revisions: create table c11 key tss signal sigaction exit timer
//~ with: foreign/handed.c gcc-object
//~ truth: race assertion
//~ must-not: proved
//~ want: no-claim
//~ cross: no
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
extern int counter;
void *start(void *arg);
extern void *(*const start_in_table)(void *);
int start_c11(void *arg);
void destructor(void *arg);
void at_end(void);
void handler(int signal);
void expired(union sigval value);
static void *count(void *arg)
{
    counter++;
    return arg;
}
static pthread_key_t key;
static tss_t local;
static void *keeps(void *arg)
{
    pthread_setspecific(key, &key);
    return arg;
}
static int keeps_c11(void *arg)
{
    tss_set(local, &local);
    return arg != 0;
}
int main(void)
{
    pthread_t first, second;
#ifdef CREATE
    pthread_create(&second, 0, start, 0);
    pthread_create(&first, 0, count, 0);
    pthread_join(second, 0);
#elif defined TABLE
    pthread_create(&second, 0, start_in_table, 0);
    pthread_create(&first, 0, count, 0);
    pthread_join(second, 0);
#elif defined C11
    thrd_t third;
    thrd_create(&third, start_c11, 0);
    pthread_create(&first, 0, count, 0);
    thrd_join(third, 0);
#elif defined KEY
    pthread_key_create(&key, destructor);
    pthread_create(&second, 0, keeps, 0);
    pthread_create(&first, 0, count, 0);
    pthread_join(second, 0);
#elif defined TSS
    thrd_t third;
    tss_create(&local, destructor);
    thrd_create(&third, keeps_c11, 0);
    pthread_create(&first, 0, count, 0);
    thrd_join(third, 0);
#elif defined SIGNAL
    signal(SIGUSR1, handler);
    pthread_create(&first, 0, count, 0);
    raise(SIGUSR1);
#elif defined SIGACTION
    static struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    pthread_create(&first, 0, count, 0);
    raise(SIGUSR1);
#elif defined TIMER
    static struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expired};
    struct itimerspec soon = {.it_value = {0, 1000}};
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    pthread_create(&first, 0, count, 0);
    timer_settime(timer, 0, &soon, 0);
    nanosleep(&(struct timespec){0, 2000}, 0);
#elif defined EXIT
    atexit(at_end);
    pthread_create(&first, 0, count, 0);
    exit(0);
#endif
    pthread_join(first, 0);
    return 0;
}
