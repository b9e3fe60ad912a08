// Fixed twin of reorder_3.c: a lock makes the two writes one step, and the two reads.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a, b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *set(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    a = 1;
    b = -1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *check(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int sum = a;
    sum += b;
    pthread_mutex_unlock(&lock);
    assert(sum == 0);
    return NULL;
}

int main(void) {
    pthread_t setters[2], checker;
    pthread_create(&setters[0], NULL, set, NULL);
    pthread_create(&setters[1], NULL, set, NULL);
    pthread_create(&checker, NULL, check, NULL);
    pthread_join(setters[0], NULL);
    pthread_join(setters[1], NULL);
    pthread_join(checker, NULL);
    return 0;
}
