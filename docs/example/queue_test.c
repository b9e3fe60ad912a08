// The program of the user guide: a queue whose length one thread changes without the lock.
#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    int count;
    int items[8];
};

static struct queue *q;

static void *push(void *item) {
    (void)item;
    q->items[0] = 1;
    q->count += 1;
    return NULL;
}

static void *drain(void *unused) {
    (void)unused;
    pthread_mutex_lock(&q->lock);
    while (q->count > 0)
        q->count -= 1;
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

int main(void) {
    pthread_t producer, consumer;
    q = calloc(1, sizeof *q);
    pthread_mutex_init(&q->lock, NULL);
    pthread_create(&producer, NULL, push, NULL);
    pthread_create(&consumer, NULL, drain, NULL);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    free(q);
    return 0;
}
