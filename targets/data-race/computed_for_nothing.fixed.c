// Fixed twin of computed_for_nothing.c: y is written under the lock as well.

#include <pthread.h>
#include <stddef.h>

int x, y, z, m, n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    pthread_mutex_lock(&lock);
    x = 1;
    y = 1;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    z = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    m = z + 1;
    n = m + 1;
    int seen = x;
    if (seen <= 1)
        y = 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return n > 4;
}
