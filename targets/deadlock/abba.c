// Two locks, taken in one order by main and in the other order by the worker.
//
// preemptions: 1
//
// The twin is right because both take the locks in the same order.

#include <pthread.h>

static int moved;
static pthread_mutex_t from = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t into = PTHREAD_MUTEX_INITIALIZER;

static void *move_back(void *unused) {
    (void)unused;
    pthread_mutex_lock(&into);
    pthread_mutex_lock(&from); //~ deadlock
    moved--;
    pthread_mutex_unlock(&from);
    pthread_mutex_unlock(&into);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, move_back, NULL);
    pthread_mutex_lock(&from);
    pthread_mutex_lock(&into); //~ deadlock
    moved++;
    pthread_mutex_unlock(&into);
    pthread_mutex_unlock(&from);
    pthread_join(worker, NULL);
    return moved;
}
