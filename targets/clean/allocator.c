// Threads allocate, grow and free blocks of many sizes, and free what others have allocated. Memory that comes back is
// another's soon after.

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 6

static char *handed_over[2][BLOCKS];

static void *allocate(void *argument) {
    char **mine = argument;
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t size = (size_t)16 << (2 * i);
        mine[i] = malloc(size);
        memset(mine[i], (int)i, size);
        mine[i] = realloc(mine[i], 2 * size);
        assert(mine[i][size - 1] == (char)i);
        char *zeroed = calloc(2, size);
        assert(zeroed[2 * size - 1] == 0);
        free(zeroed);
        char *aligned = aligned_alloc(64, 4 * 64);
        aligned[0] = 1;
        free(aligned);
    }
    return NULL;
}

static void *release(void *argument) {
    char **blocks = argument;
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, allocate, handed_over[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, release, handed_over[1 - i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
