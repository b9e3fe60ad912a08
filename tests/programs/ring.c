// A ring of numbers: `take` gives a slot back before it has read it.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int slots[2];
static atomic_uint head, tail;

static int put(int number) {
    if (tail - head == 2)
        return 0;
    slots[tail % 2] = number;
    tail++;
    return 1;
}

static int take(int *number) {
    unsigned at = head;
    if (at == tail)
        return 0;
    head = at + 1;
    *number = slots[at % 2];
    return 1;
}

static void *produce(void *unused) {
    for (int number = 1; number <= 3; number++)
        while (!put(number))
            sched_yield();
    return unused;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, 0, produce, 0);
    for (int expected = 1; expected <= 3; expected++) {
        int number;
        while (!take(&number))
            sched_yield();
        assert(number == expected);
    }
    pthread_join(producer, 0);
    return 0;
}
