// Threads that start after others have ended get the same stack. Main does not wait for all of them in between, so
// only the reuse itself orders their locals.

#include <pthread.h>
#include <stddef.h>

static int sum_of(volatile int *numbers, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += numbers[i];
    return sum;
}

static void *work(void *seed) {
    volatile int numbers[16];
    for (int i = 0; i < 16; i++)
        numbers[i] = *(int *)seed;
    return sum_of(numbers, 16) == 16 * *(int *)seed ? seed : NULL;
}

int main(void) {
    int seeds[4] = {1, 2, 3, 4}, failed = 0;
    pthread_t threads[4];
    for (int i = 0; i < 4; i += 2) {
        void *results[2];
        pthread_create(&threads[i], NULL, work, &seeds[i]);
        pthread_create(&threads[i + 1], NULL, work, &seeds[i + 1]);
        pthread_join(threads[i], &results[0]);
        pthread_join(threads[i + 1], &results[1]);
        failed += results[0] == NULL || results[1] == NULL;
    }
    return failed;
}
