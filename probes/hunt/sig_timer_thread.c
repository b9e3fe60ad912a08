//~ about: a timer whose function runs in a thread of its own
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
static int n;
static sem_t done;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void tick(union sigval v)
{
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    n++;
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
    sem_post(&done);
}
int main(void)
{
    timer_t t;
    struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
    struct itimerspec when = {{0, 0}, {0, 1000000}};
    sem_init(&done, 0, 0);
    timer_create(CLOCK_MONOTONIC, &e, &t);
    timer_settime(t, 0, &when, 0);
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    n++;
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
    sem_wait(&done);
    timer_delete(t);
    return 0;
}
