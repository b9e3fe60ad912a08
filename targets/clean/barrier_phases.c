// Three threads write their own cell, meet, read all cells, meet again, for two rounds.

#include <pthread.h>
#include <stddef.h>

#define THREADS 3

int cells[THREADS];
static pthread_barrier_t barrier;

static void *work(void *number) {
    int me = *(int *)number;
    for (int round = 1; round <= 2; round++) {
        cells[me] += round;
        pthread_barrier_wait(&barrier);
        int sum = 0;
        for (int i = 0; i < THREADS; i++)
            sum += cells[i];
        pthread_barrier_wait(&barrier);
        if (sum != THREADS * round * (round + 1) / 2)
            return number;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS] = {0, 1, 2}, failed = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failed += result != NULL;
    }
    return failed;
}
