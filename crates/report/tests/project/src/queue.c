#include "queue.h"

struct queue *queue_new(void) {
    return calloc(1, sizeof(struct queue));
}

int queue_push(struct queue *q, int item) {
	q->items[q->count] = item;
	q->count += 1;
    return 0;
}

void transfer(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&from->mu);
    pthread_mutex_lock(&to->mu);
    from->balance -= amount;
    to->balance += amount;
}

void check(struct queue *q) {
    assert(q->count == 2 && "every item was counted");
    q->last->next->value = q->first != NULL && q->first->next != NULL ? q->first->next->value : compute_something(q->first, q->last);
}
