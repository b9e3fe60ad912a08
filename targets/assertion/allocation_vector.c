// After figure 12 of the variable-bounding paper: finding a free block and marking it are two critical sections.
// The other thread must take the same block and be interrupted before it gives it back.
//
// preemptions: 2
// variables: 1
// threads: 2
//
// The twin is right because the block is found, checked and marked in one critical section.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int allocated[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *use_block(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int block = allocated[0] ? 1 : 0;
    pthread_mutex_unlock(&lock);

    pthread_mutex_lock(&lock);
    assert(!allocated[block]); //~ assertion
    allocated[block] = 1;
    pthread_mutex_unlock(&lock);

    pthread_mutex_lock(&lock);
    allocated[block] = 0;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, use_block, NULL);
    pthread_create(&second, NULL, use_block, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
