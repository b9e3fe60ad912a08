// Each thread sums up its part of an array, and adds it to the total, which all of them share.
//
// preemptions: 0
//
// The twin is right because each thread has its own sum, which main adds when the thread has ended.

#include <pthread.h>
#include <stddef.h>

#define THREADS 2
#define PART 4

static int numbers[THREADS * PART] = {1, 2, 3, 4, 5, 6, 7, 8};
int total;

static void *sum_up(void *argument) {
    size_t part = (size_t)argument;
    int sum = 0;
    for (size_t i = part * PART; i < (part + 1) * PART; i++)
        sum += numbers[i];
    total += sum; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, sum_up, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return total > 36;
}
