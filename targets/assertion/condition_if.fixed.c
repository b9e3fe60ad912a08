// Fixed twin of condition_if.c: the predicate is checked again after every wait.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int items;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;

static void *consume(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    while (items == 0)
        pthread_cond_wait(&not_empty, &lock);
    assert(items > 0);
    items--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *produce(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t producer, consumers[2];
    pthread_create(&consumers[0], NULL, consume, NULL);
    pthread_create(&consumers[1], NULL, consume, NULL);
    pthread_create(&producer, NULL, produce, NULL);
    pthread_join(consumers[0], NULL);
    pthread_join(consumers[1], NULL);
    pthread_join(producer, NULL);
    return 0;
}
