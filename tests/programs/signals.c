// One condition variable for producers and consumers, woken with signal.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int *items;
    int head, count, capacity;
};

static struct queue *queue_new(int capacity) {
    struct queue *queue = calloc(1, sizeof *queue);
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->changed, NULL);
    queue->items = calloc(capacity, sizeof *queue->items);
    queue->capacity = capacity;
    return queue;
}

static void queue_put(struct queue *queue, int item) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == queue->capacity)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    queue->items[(queue->head + queue->count) % queue->capacity] = item;
    queue->count++;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

static int queue_get(struct queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    int item = queue->items[queue->head];
    queue->head = (queue->head + 1) % queue->capacity;
    queue->count--;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    return item;
}

static void *producer(void *arg) {
    struct queue *queue = arg;
    for (int i = 1; i <= 2; i++) queue_put(queue, i);
    return NULL;
}
static void *consumer(void *arg) {
    struct queue *queue = arg;
    long sum = 0;
    for (int i = 0; i < 2; i++) sum += queue_get(queue);
    return (void *)sum;
}

int main(void) {
    struct queue *queue = queue_new(1);
    pthread_t t[4];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, producer, queue);
    for (int i = 2; i < 4; i++) pthread_create(&t[i], NULL, consumer, queue);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    return 0;
}
