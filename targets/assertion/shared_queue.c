// A queue for many producers and consumers, in a ring of cells with turns. A consumer takes its place at the head by a
// load and a store, so that two of them can take the same one.
//
// preemptions: 1
//
// The twin is right because the place is taken by compare-and-swap.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define CELLS 2

static struct {
    atomic_uint turn;
    atomic_int item;
} ring[CELLS] = {{0, 0}, {1, 0}};
static atomic_uint head, tail;
static atomic_int taken[3];

static bool put(int item) {
    unsigned place = atomic_load(&tail);
    while (atomic_load(&ring[place % CELLS].turn) == place) {
        if (atomic_compare_exchange_strong(&tail, &place, place + 1)) {
            atomic_store(&ring[place % CELLS].item, item);
            atomic_store(&ring[place % CELLS].turn, place + 1);
            return true;
        }
    }
    return false;
}

static void *take(void *unused) {
    unsigned place = atomic_load(&head);
    while (atomic_load(&ring[place % CELLS].turn) == place + 1) {
        atomic_store(&head, place + 1);
        int item = atomic_load(&ring[place % CELLS].item);
        atomic_store(&ring[place % CELLS].turn, place + CELLS);
        int before = atomic_fetch_add(&taken[item], 1);
        assert(before == 0); //~ assertion
        place++;
    }
    return unused;
}

static void *produce(void *item) {
    put((int)(size_t)item);
    return NULL;
}

int main(void) {
    pthread_t producers[2], consumers[2];
    for (size_t i = 0; i < 2; i++)
        pthread_create(&producers[i], NULL, produce, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(producers[i], NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&consumers[i], NULL, take, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(consumers[i], NULL);
    return 0;
}
