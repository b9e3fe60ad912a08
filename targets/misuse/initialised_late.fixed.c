// Fixed twin of initialised_late.c: the lock is initialised before there is a second thread.

#include <pthread.h>

static pthread_mutex_t lock;
static int count;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_mutex_init(&lock, NULL);
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    return count != 2;
}
