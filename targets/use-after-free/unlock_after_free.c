// The last owner of an object frees it inside the critical section of the object's own lock.
//
// preemptions: 0
//
// The twin is right because the object is freed after its lock was released.

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
    if (left == 0)
        free(object); //~ use-after-free
    pthread_mutex_unlock(&object->lock); //~ use-after-free
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
