// Fixed twin of unlock_after_free.c: the object is freed after its lock was released.

#include <pthread.h>
#include <stdlib.h>

struct Object {
    pthread_mutex_t lock;
    int owners;
};

static void *drop(void *argument) {
    struct Object *object = argument;
    pthread_mutex_lock(&object->lock);
    int left = --object->owners;
    pthread_mutex_unlock(&object->lock);
    if (left == 0)
        free(object);
    return NULL;
}

int main(void) {
    struct Object *object = malloc(sizeof *object);
    pthread_mutex_init(&object->lock, NULL);
    object->owners = 2;
    pthread_t thread;
    pthread_create(&thread, NULL, drop, object);
    drop(object);
    pthread_join(thread, NULL);
    return 0;
}
