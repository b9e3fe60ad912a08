// A block that one thread frees may be given to another thread at once. The allocator orders the two, and the
// accesses to the two lives of the block are no race.

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static void *churn(void *seed) {
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        int *block = malloc(6 * sizeof *block);
        if (block == NULL)
            return NULL;
        for (int j = 0; j < 6; j++)
            block[j] = *(int *)seed;
        sum += block[i];
        free(block);
    }
    return sum == 4 * *(int *)seed ? seed : NULL;
}

int main(void) {
    pthread_t first, second;
    int seeds[2] = {3, 5};
    void *results[2];
    pthread_create(&first, NULL, churn, &seeds[0]);
    pthread_create(&second, NULL, churn, &seeds[1]);
    pthread_join(first, &results[0]);
    pthread_join(second, &results[1]);
    return results[0] == NULL || results[1] == NULL;
}
