// A lock-free stack compares only the number of its top node. If the top is popped and pushed again in between,
// the compare-and-swap succeeds with a successor that is no longer on the stack, and a node gets two owners.
//
// preemptions: 1
//
// The twin is right because the head carries a version that changes with every operation.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

// The low half of the head is the number of the top node, 0 when the stack is empty.
#define NODE(head) ((uint32_t)(head))
#define NEW_HEAD(old, node) ((uint64_t)(node))

static _Atomic uint64_t head = 1;
static _Atomic uint32_t below[3] = {0, 2, 0}; // 1 lies on 2
static atomic_int owners[3];

static uint32_t pop(void) {
    uint64_t old = head;
    while (NODE(old) != 0) {
        uint32_t next = below[NODE(old)];
        if (atomic_compare_exchange_strong(&head, &old, NEW_HEAD(old, next))) {
            int others = atomic_fetch_add(&owners[NODE(old)], 1);
            assert(others == 0); //~ assertion
            break;
        }
    }
    return NODE(old);
}

static void push(uint32_t node) {
    uint64_t old = head;
    atomic_fetch_sub(&owners[node], 1);
    do {
        below[node] = NODE(old);
    } while (!atomic_compare_exchange_strong(&head, &old, NEW_HEAD(old, node)));
}

static void *take_two(void *unused) {
    (void)unused;
    pop();
    pop();
    return NULL;
}

static void *take_two_return_one(void *unused) {
    (void)unused;
    uint32_t first = pop();
    pop();
    if (first != 0)
        push(first);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, take_two, NULL);
    pthread_create(&two, NULL, take_two_return_one, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
