// A cache behind a reader-writer lock: looked up under the reader side, filled under the writer side after a
// second look.

#include <pthread.h>
#include <stddef.h>

static int filled, cached, computations;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *get(void *result) {
    pthread_rwlock_rdlock(&lock);
    int hit = filled;
    int value = cached;
    pthread_rwlock_unlock(&lock);
    if (!hit) {
        pthread_rwlock_wrlock(&lock);
        if (!filled) {
            computations++;
            cached = 9;
            filled = 1;
        }
        value = cached;
        pthread_rwlock_unlock(&lock);
    }
    *(int *)result = value;
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int results[2] = {0, 0};
    pthread_create(&first, NULL, get, &results[0]);
    pthread_create(&second, NULL, get, &results[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return results[0] != 9 || results[1] != 9 || computations != 1;
}
