// Fixed twin of condition_two_mutexes.c: both queues are guarded by one lock.

#include <pthread.h>
#include <stddef.h>

struct Queue {
    pthread_mutex_t *lock;
    int items;
};

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct Queue first = {&first_lock, 0};
static struct Queue second = {&first_lock, 0};

static void *consume(void *argument) {
    struct Queue *queue = argument;
    pthread_mutex_lock(queue->lock);
    while (queue->items == 0)
        pthread_cond_wait(&filled, queue->lock);
    queue->items--;
    pthread_mutex_unlock(queue->lock);
    return NULL;
}

static void fill(struct Queue *queue) {
    pthread_mutex_lock(queue->lock);
    queue->items++;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(queue->lock);
}

int main(void) {
    pthread_t consumers[2];
    pthread_create(&consumers[0], NULL, consume, &first);
    pthread_create(&consumers[1], NULL, consume, &second);
    for (int i = 0; i < 3; i++)
        sched_yield();
    fill(&first);
    fill(&second);
    pthread_join(consumers[0], NULL);
    pthread_join(consumers[1], NULL);
    return 0;
}
