// Fixed twin of lost_update.c: a mutex makes reading and writing back one step, and orders the two threads.

#include <pthread.h>
#include <stdio.h>

int n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *increment(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int seen = n;
    n = seen + 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, increment, NULL);
    pthread_create(&second, NULL, increment, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("n = %d\n", n);
    return 0;
}
