// Fixed twin of recursion.c: the mutex is recursive.

#define _GNU_SOURCE
#include <pthread.h>

static int levels;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static int count_from(int level) {
    pthread_mutex_lock(&lock);
    int deeper = level < levels ? count_from(level + 1) : 0;
    pthread_mutex_unlock(&lock);
    return deeper + 1;
}

static void *add_level(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    levels = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, add_level, NULL);
    int counted = count_from(0);
    pthread_join(worker, NULL);
    return counted < 1;
}
