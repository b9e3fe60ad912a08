// bug: assertion
// sizes: 2 20 50 100
// Two values that belong together are written under two locks, one after the other; a reader comes in between.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER, lock_b = PTHREAD_MUTEX_INITIALIZER;
static int a, b;

static void *write_both(void *unused) {
    pthread_mutex_lock(&lock_a);
    a = 1;
    pthread_mutex_unlock(&lock_a);
    pthread_mutex_lock(&lock_b);
    b = a + 1;
    pthread_mutex_unlock(&lock_b);
    return unused;
}

static void *read_both(void *unused) {
    pthread_mutex_lock(&lock_a);
    int seen = a;
    pthread_mutex_unlock(&lock_a);
    if (seen == 0)
        return unused;
    pthread_mutex_lock(&lock_b);
    int other = b;
    pthread_mutex_unlock(&lock_b);
    assert(other == seen + 1);
    return unused;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, i == N - 1 ? read_both : write_both, 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
