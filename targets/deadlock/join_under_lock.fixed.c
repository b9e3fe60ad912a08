// Fixed twin of join_under_lock.c: the lock is given back before the wait.

#include <pthread.h>

static int finished;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *finish(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    finished++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, finish, NULL);
    pthread_mutex_lock(&lock);
    finished++;
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    return finished != 2;
}
