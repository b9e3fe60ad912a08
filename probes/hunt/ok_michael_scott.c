//~ about: a queue without locks, whose nodes are not freed
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node {
    int value;
    _Atomic(struct node *) next;
};
static _Atomic(struct node *) head, tail;
static struct node *make(int v)
{
    struct node *n = malloc(sizeof *n);
    n->value = v;
    atomic_init(&n->next, NULL);
    return n;
}
static void put(int v)
{
    struct node *n = make(v);
    for (;;) {
        struct node *t = tail, *next = t->next;
        if (next) {
            atomic_compare_exchange_strong(&tail, &t, next);
            continue;
        }
        struct node *none = NULL;
        if (atomic_compare_exchange_strong(&t->next, &none, n)) {
            atomic_compare_exchange_strong(&tail, &t, n);
            return;
        }
    }
}
static int get(void)
{
    for (;;) {
        struct node *h = head, *t = tail, *next = h->next;
        if (h == t) {
            if (!next)
                return 0;
            atomic_compare_exchange_strong(&tail, &t, next);
        } else if (next) {
            int v = next->value;
            if (atomic_compare_exchange_strong(&head, &h, next))
                return v;
        }
    }
}
static void *producer(void *arg)
{
    put((int)(long)arg);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    struct node *first = make(0);
    atomic_init(&head, first);
    atomic_init(&tail, first);
    pthread_create(&a, 0, producer, (void *)1);
    pthread_create(&b, 0, producer, (void *)2);
    int sum = get();
    pthread_join(a, 0);
    pthread_join(b, 0);
    for (int v; (v = get());)
        sum += v;
    assert(sum == 3);
    return 0;
}
