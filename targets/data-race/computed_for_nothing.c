// Figure 3 of the ReConP paper: the second thread reads what the first one wrote last, computes something from it that
// is not used, and writes y, as the first thread did before. The lock around x and z orders the two writes in the
// schedule that comes first, where the second thread comes last; what was read there does not matter.
//
// preemptions: 0
//
// The twin is right because y is written under the lock as well.

#include <pthread.h>
#include <stddef.h>

int x, y, z, m, n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    pthread_mutex_lock(&lock);
    x = 1;
    pthread_mutex_unlock(&lock);
    y = 1; //~ data-race
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
    pthread_mutex_unlock(&lock);
    if (seen > 1)
        return unused;
    y = 2; //~ data-race
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
