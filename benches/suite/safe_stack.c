// bug: assertion
// A stack of three free cells without a lock, for three threads. A cell is taken in two steps; that both succeed although the
// cell was taken and given back in between takes at least five preemptions.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { CELLS = 3, ROUNDS = 2 };

static struct {
    atomic_int next, owner;
} cells[CELLS];
static atomic_int head, count = CELLS;

static int take(void) {
    while (count > 1) {
        int top = head;
        int below = atomic_exchange(&cells[top].next, -1);
        if (below >= 0) {
            int expected = top;
            if (atomic_compare_exchange_strong(&head, &expected, below)) {
                count--;
                return top;
            }
            atomic_exchange(&cells[top].next, below);
        }
    }
    return -1;
}

static void give(int cell) {
    int top = head;
    do
        cells[cell].next = top;
    while (!atomic_compare_exchange_strong(&head, &top, cell));
    count++;
}

static void *use(void *argument) {
    int own = (int)(long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        int cell = take();
        if (cell < 0)
            continue;
        cells[cell].owner = own;
        assert(cells[cell].owner == own);
        give(cell);
    }
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < CELLS; i++)
        cells[i].next = i + 1 < CELLS ? i + 1 : 0;
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, use, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
