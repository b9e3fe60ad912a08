#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *order) {
    pthread_mutex_lock(order ? &one : &two);
    pthread_mutex_lock(order ? &two : &one);
    pthread_mutex_unlock(&one);
    pthread_mutex_unlock(&two);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, &one);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
