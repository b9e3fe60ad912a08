// bug: assertion
// Four threads, each of which takes over the value of the one before it. In one order only all of them have the same.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int values[4] = {4, 3, 2, 1};

static void *pass(void *argument) {
    long own = (long)argument;
    pthread_mutex_lock(&lock);
    values[own] = values[(own + 3) % 4] + 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *check(void *unused) {
    pthread_mutex_lock(&lock);
    assert(!(values[1] == values[0] + 1 && values[2] == values[1] + 1 && values[3] == values[2] + 1));
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[5];
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, pass, (void *)(3 - i));
    pthread_create(&threads[4], 0, check, 0);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], 0);
    return 0;
}
