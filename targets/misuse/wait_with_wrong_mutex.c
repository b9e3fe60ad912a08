// A thread waits on a condition variable with a mutex that it does not hold: it has locked another one.
//
// preemptions: 0
//
// The twin is right because it waits with the mutex that it holds.

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t input = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int lines;
static int printed;

static void *print(void *unused) {
    (void)unused;
    pthread_mutex_lock(&input);
    if (lines == 0)
        pthread_cond_wait(&ready, &output); //~ misuse
    pthread_mutex_unlock(&input);
    pthread_mutex_lock(&output);
    printed++;
    pthread_mutex_unlock(&output);
    return NULL;
}

int main(void) {
    pthread_t printer;
    pthread_create(&printer, NULL, print, NULL);
    sched_yield();
    pthread_mutex_lock(&input);
    lines++;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&input);
    pthread_join(printer, NULL);
    return printed != 1;
}
