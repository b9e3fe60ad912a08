// Long executions: a given number of memory accesses by two threads that share a little.
//
// Each step makes three accesses: it follows a link, then reads and writes the cell that it came to. The links form one
// cycle, so that no compiler can keep a cell in a register or handle two steps at once. Every 1,000 steps a thread adds
// to a shared sum under a mutex. The count is met to within a thousandth.
//
// usage: accesses [count]                 prints the shared sum, which does not depend on the schedule
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 64
#define ACCESSES_PER_STEP 3
#define SHARE_EVERY 1000

struct Walker {
    pthread_t thread;
    long steps;
    uint32_t links[CELLS];
    uint32_t cells[CELLS];
};

static uint64_t sum;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;

static void *walk(void *argument) {
    struct Walker *walker = argument;
    uint32_t at = 0;
    for (long step = 1, steps = walker->steps; step <= steps; step++) {
        at = walker->links[at];
        walker->cells[at] += at;
        if (step % SHARE_EVERY == 0) {
            pthread_mutex_lock(&sum_lock);
            sum += at;
            pthread_mutex_unlock(&sum_lock);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 49000;
    if (count < 0) {
        fprintf(stderr, "usage: accesses [count]\n");
        return 2;
    }
    static struct Walker walkers[2];
    // Setting up the links is itself one write per cell.
    long steps = (count - 2 * CELLS) / (2 * ACCESSES_PER_STEP);
    for (int i = 0; i < 2; i++) {
        walkers[i].steps = steps;
        for (uint32_t cell = 0; cell < CELLS; cell++)
            walkers[i].links[cell] = (cell * 5 + 3) % CELLS;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&walkers[i].thread, NULL, walk, &walkers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(walkers[i].thread, NULL);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
