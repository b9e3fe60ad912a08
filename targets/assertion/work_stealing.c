// The owner of a deque takes from the bottom, a thief from the top. For the last item the owner must compete with
// the thief, and here it does not: both get it.
//
// preemptions: 2
//
// The twin is right because for the last item the owner moves the top by compare-and-swap, like a thief.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int top, bottom = 1; // one item, number 0
static atomic_int taken[1];

static void use(int item) {
    int before = atomic_fetch_add(&taken[item], 1);
    assert(before == 0); //~ assertion
}

static void take(void) {
    int last = bottom - 1;
    bottom = last;
    int first = top;
    if (first <= last)
        use(last);
}

static void *steal(void *unused) {
    (void)unused;
    int first = top;
    if (first < bottom && atomic_compare_exchange_strong(&top, &first, first + 1))
        use(first);
    return NULL;
}

int main(void) {
    pthread_t thief;
    pthread_create(&thief, NULL, steal, NULL);
    take();
    pthread_join(thief, NULL);
    return 0;
}
