// Fixed twin of argument_alias.c: the functions hold a lock while they add.

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *argument) {
    int *number = argument;
    pthread_mutex_lock(&lock);
    (*number)++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *second(void *argument) {
    int *number = argument;
    pthread_mutex_lock(&lock);
    (*number)++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    int data = 0;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, &data);
    pthread_create(&threads[1], NULL, second, &data);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return data > 2;
}
