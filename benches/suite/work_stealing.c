// bug: assertion
// A queue whose owner takes from one end and whose thief steals from the other, without a lock. The owner does not look again
// when one element is left, so both get it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { ITEMS = 4 };

static atomic_int head, tail;
static int items[ITEMS];
static atomic_int taken[ITEMS];

static void use(int item) { assert(atomic_fetch_add(&taken[item], 1) == 0); }

static int steal(void) {
    int at = head;
    if (at >= tail)
        return -1;
    int item = items[at];
    return atomic_compare_exchange_strong(&head, &at, at + 1) ? item : -1;
}

static int take(void) {
    int at = --tail;
    if (head > at) {
        tail++;
        return -1;
    }
    return items[at];
}

static void *thief(void *unused) {
    for (int i = 0; i < 2; i++) {
        int item = steal();
        if (item >= 0)
            use(item);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < ITEMS; i++)
        items[tail++] = i;
    pthread_create(&thread, 0, thief, 0);
    for (int item; (item = take()) >= 0;)
        use(item);
    pthread_join(thread, 0);
    return 0;
}
