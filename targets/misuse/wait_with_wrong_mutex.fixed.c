// Fixed twin of wait_with_wrong_mutex.c: it waits with the mutex that it holds.

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
    while (lines == 0)
        pthread_cond_wait(&ready, &input);
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
