// bug: assertion
// sizes: 2 4 8
// Most threads update a counter under one lock, one under another.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER, wrong = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *lock) {
    pthread_mutex_lock(lock);
    int before = counter;
    counter = before + 1;
    pthread_mutex_unlock(lock);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, add, i == 0 ? &wrong : &right);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    assert(counter == N);
    return 0;
}
