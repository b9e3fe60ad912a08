// Two locks, taken in opposite orders by two threads, while a timer keeps firing: the process never stands still.
//
// preemptions: 1
//
// The twin is right because both take the locks in the same order.

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t ticks;

static void tick(int signal) {
    (void)signal;
    ticks++;
}

static void *forwards(void *unused) {
    (void)unused;
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second); //~ deadlock
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return NULL;
}

static void *backwards(void *unused) {
    (void)unused;
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first); //~ deadlock
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return NULL;
}

int main(void) {
    struct itimerval every = {{.tv_usec = 1000}, {.tv_usec = 1000}}, never = {{0}};
    pthread_t one, other;
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &every, NULL);
    pthread_create(&one, NULL, forwards, NULL);
    pthread_create(&other, NULL, backwards, NULL);
    pthread_join(one, NULL); //~ deadlock
    pthread_join(other, NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    return 0;
}
