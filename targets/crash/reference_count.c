// A reference count is incremented by a load and a store. If one of two increments is lost, the object is gone
// when the second reference is given back, and main uses it once more.
//
// preemptions: 1
//
// The twin is right because the increment is one atomic operation.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int storage = 1;
int *volatile object = &storage; // volatile: a compiler may otherwise conclude that it is never null
static atomic_int references = 1;

static void *retain(void *unused) {
    (void)unused;
    int seen = references;
    references = seen + 1;
    return NULL;
}

static void release(void) {
    if (atomic_fetch_sub(&references, 1) == 1)
        object = NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, retain, NULL);
    pthread_create(&second, NULL, retain, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    release();
    release();
    int value = *object; //~ crash
    release();
    return value != 1;
}
