// Two owners of an object release it. Each decrements the count and reads it again: both can see zero.
//
// preemptions: 1
//
// The twin is right because the decrement itself says what the count was.

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct Object {
    int content;
};

static atomic_int references = 2;
static struct Object *object;

static void drop(void) {
    atomic_fetch_sub(&references, 1);
    if (atomic_load(&references) == 0)
        free(object); //~ double-free
}

static void *owner(void *unused) {
    (void)unused;
    drop();
    return NULL;
}

int main(void) {
    object = calloc(1, sizeof *object);
    pthread_t thread;
    pthread_create(&thread, NULL, owner, NULL);
    drop();
    pthread_join(thread, NULL);
    return 0;
}
