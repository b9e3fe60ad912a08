// bug: assertion
// Threads sort parts of an array. How many are busy is counted without an atomic update, so the main thread may go on before
// all is sorted.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { COUNT = 8 };

static int numbers[COUNT] = {5, 2, 7, 1, 8, 3, 6, 4};
static atomic_int busy;
static pthread_t threads[2];

static void sort(int from, int to) {
    if (to - from < 2)
        return;
    int pivot = numbers[from], middle = from;
    for (int i = from + 1; i < to; i++)
        if (numbers[i] < pivot) {
            int swap = numbers[++middle];
            numbers[middle] = numbers[i];
            numbers[i] = swap;
        }
    numbers[from] = numbers[middle];
    numbers[middle] = pivot;
    sort(from, middle);
    sort(middle + 1, to);
}

static void enter(void) {
    int before = busy;
    busy = before + 1;
}

static void leave(void) {
    int before = busy;
    busy = before - 1;
}

static void *half(void *argument) {
    long from = (long)argument;
    enter();
    sort(from, from + COUNT / 2);
    leave();
    return 0;
}

int main(void) {
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, half, (void *)(i * COUNT / 2));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(busy == 0);
    return 0;
}
