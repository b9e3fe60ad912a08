// Fixed twin of plain_flag.c: the flag is atomic, so a reader that sees it set also sees what was written before
// it was set.

#include <pthread.h>
#include <stdatomic.h>

int payload;
static atomic_int ready;

static void *publish(void *unused) {
    (void)unused;
    payload = 42;
    ready = 1;
    return NULL;
}

static void *consume(void *result) {
    if (ready)
        *(int *)result = payload;
    return NULL;
}

int main(void) {
    pthread_t producer, consumer;
    int result = 0;
    pthread_create(&producer, NULL, publish, NULL);
    pthread_create(&consumer, NULL, consume, &result);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    return result != 0 && result != 42;
}
