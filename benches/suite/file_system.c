// bug: assertion
// sizes: 4 10
// Threads give blocks of a disk to files. Whether a block is free is looked at under the lock of the file, not of the block,
// for blocks in the second half.
#include <assert.h>
#include <pthread.h>

enum { FILES = 4, BLOCKS = 4 };

static pthread_mutex_t file_locks[FILES], block_locks[BLOCKS];
static int block_of[FILES], busy[BLOCKS], given[BLOCKS];

static void *create(void *argument) {
    int file = (int)(long)argument % FILES;
    pthread_mutex_lock(&file_locks[file]);
    if (block_of[file] == 0) {
        for (int step = 0; step < BLOCKS; step++) {
            int block = (file * 2 + step) % BLOCKS;
            if (block < BLOCKS / 2)
                pthread_mutex_lock(&block_locks[block]);
            int was_busy = busy[block];
            if (!was_busy) {
                busy[block] = 1;
                given[block]++;
                block_of[file] = block + 1;
            }
            if (block < BLOCKS / 2)
                pthread_mutex_unlock(&block_locks[block]);
            if (!was_busy)
                break;
        }
    }
    pthread_mutex_unlock(&file_locks[file]);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < FILES; i++)
        pthread_mutex_init(&file_locks[i], 0);
    for (int i = 0; i < BLOCKS; i++)
        pthread_mutex_init(&block_locks[i], 0);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, create, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    for (int i = 0; i < BLOCKS; i++)
        assert(given[i] <= 1);
    return 0;
}
