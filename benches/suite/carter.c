// bug: deadlock
// Readers count themselves in and out under a lock, and the first and the last of them handle the lock of the resource, in an
// order that is not the writer's.
#include <pthread.h>

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER, resource = PTHREAD_MUTEX_INITIALIZER;
static int readers;

static void *read_it(void *unused) {
    pthread_mutex_lock(&count_lock);
    if (++readers == 1)
        pthread_mutex_lock(&resource);
    pthread_mutex_unlock(&count_lock);
    pthread_mutex_lock(&count_lock);
    if (--readers == 0)
        pthread_mutex_unlock(&resource);
    pthread_mutex_unlock(&count_lock);
    return unused;
}

static void *write_it(void *unused) {
    pthread_mutex_lock(&resource);
    pthread_mutex_lock(&count_lock);
    pthread_mutex_unlock(&count_lock);
    pthread_mutex_unlock(&resource);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, read_it, 0);
    pthread_create(&threads[1], 0, write_it, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
