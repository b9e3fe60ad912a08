// Fixed twin of parallel_sum.c: each thread has its own sum, which main adds when the thread has ended.

#include <pthread.h>
#include <stddef.h>

#define THREADS 2
#define PART 4

static int numbers[THREADS * PART] = {1, 2, 3, 4, 5, 6, 7, 8};
static int sums[THREADS];

static void *sum_up(void *argument) {
    size_t part = (size_t)argument;
    for (size_t i = part * PART; i < (part + 1) * PART; i++)
        sums[part] += numbers[i];
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, sum_up, (void *)i);
    int total = 0;
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        total += sums[i];
    }
    return total > 36;
}
