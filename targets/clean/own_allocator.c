// A program with its own allocator, which replaces the C library's.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static _Alignas(16) char arena[1 << 18];
static size_t used;
static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;

void *malloc(size_t size) {
    pthread_mutex_lock(&arena_lock);
    char *block = arena + used;
    size_t needed = (size + 31) & ~(size_t)15;
    if (used + needed > sizeof arena)
        block = NULL;
    else
        used += needed;
    pthread_mutex_unlock(&arena_lock);
    if (block == NULL)
        return NULL;
    memcpy(block, &size, sizeof size);
    return block + 16;
}

void free(void *block) {
    (void)block;
}

void *calloc(size_t count, size_t size) {
    void *block = malloc(count * size);
    return block == NULL ? NULL : memset(block, 0, count * size);
}

void *realloc(void *block, size_t size) {
    void *moved = malloc(size);
    if (block != NULL && moved != NULL) {
        size_t old;
        memcpy(&old, (char *)block - 16, sizeof old);
        memcpy(moved, block, old < size ? old : size);
    }
    return moved;
}

static void *work(void *seed) {
    int *numbers = calloc(4, sizeof *numbers);
    for (int i = 0; i < 4; i++)
        numbers[i] = (int)(intptr_t)seed + i;
    numbers = realloc(numbers, 8 * sizeof *numbers);
    int sum = numbers[0] + numbers[3];
    free(numbers);
    return (void *)(intptr_t)sum;
}

int main(void) {
    pthread_t threads[2];
    void *sums[2];
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i * 10));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &sums[i]);
    assert((intptr_t)sums[0] == 3 && (intptr_t)sums[1] == 23);
    return 0;
}
