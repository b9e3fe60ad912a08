// Successive over-relaxation of a grid in red and black cells. The threads meet at a barrier after each half.
//
// usage: relaxation ROUNDS    prints a checksum that does not depend on the schedule
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, SIZE = 256 };

static double grid[SIZE][SIZE];
static pthread_barrier_t barrier;
static long rounds;

static void *relax(void *argument) {
    int first = (int)(long)argument * SIZE / THREADS, end = first + SIZE / THREADS;
    for (long half = 0; half < 2 * rounds; half++) {
        for (int row = first ? first : 1; row < end && row < SIZE - 1; row++)
            for (int column = 1 + (row + (int)half) % 2; column < SIZE - 1; column += 2) {
                double around =
                    grid[row - 1][column] + grid[row + 1][column] + grid[row][column - 1] + grid[row][column + 1];
                grid[row][column] += 1.25 * (around / 4 - grid[row][column]);
            }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 100;
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            grid[row][column] = (row * 31 + column * 17) % 100;
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, relax, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double sum = 0;
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            sum += grid[row][column];
    printf("%.12g\n", sum);
    return 0;
}
