// Fixed twin of abba.c: both take the locks in the same order.

#include <pthread.h>

static int moved;
static pthread_mutex_t from = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t into = PTHREAD_MUTEX_INITIALIZER;

static void *move_back(void *unused) {
    (void)unused;
    pthread_mutex_lock(&from);
    pthread_mutex_lock(&into);
    moved--;
    pthread_mutex_unlock(&from);
    pthread_mutex_unlock(&into);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, move_back, NULL);
    pthread_mutex_lock(&from);
    pthread_mutex_lock(&into);
    moved++;
    pthread_mutex_unlock(&into);
    pthread_mutex_unlock(&from);
    pthread_join(worker, NULL);
    return moved;
}
