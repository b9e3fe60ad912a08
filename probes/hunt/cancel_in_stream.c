//~ about: a thread that is to be cancelled while it holds a mutex calls a function on a stream, which may act on that
//~ truth: deadlock misuse
//~ must-not: proved
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *prints(void *unused) {
    pthread_mutex_lock(&mutex);
    puts("work");
    fflush(stdout);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, NULL, prints, NULL);
    pthread_cancel(a);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(a, NULL);
}
