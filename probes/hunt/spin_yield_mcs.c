//~ about: a queue lock (MCS) whose waiters give way
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
struct node {
    _Atomic(struct node *) next;
    atomic_int wait;
};
static _Atomic(struct node *) tail;
static int n;
static void *add(void *arg)
{
    struct node me, *none;
    atomic_init(&me.next, NULL);
    atomic_init(&me.wait, 1);
    struct node *before = atomic_exchange(&tail, &me);
    if (before) {
        before->next = &me;
        while (me.wait)
            sched_yield();
    }
    n++;
    none = &me;
    if (!atomic_compare_exchange_strong(&tail, &none, NULL)) {
        struct node *after;
        while (!(after = me.next))
            sched_yield();
        after->wait = 0;
    }
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
